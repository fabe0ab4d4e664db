/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code that is recognised by its bytes: see code_modules.h. */
#include "qemu/support/code_modules.h"

#include "base/page.h"
#include "base/search.h"
#include "recording/texts/code_found.h"

#include <stdlib.h>
#include <string.h>

enum { CANDIDATES = 32, MAX_INSTANCES = 512, MAP_LIMIT = 1 << 28 };
enum { CERTAIN = 20 }; /* bytes of a pattern that make it certain alone */

/* Where a module runs. */
struct instance {
    struct gt_support_module module; /* first: gt_support_code_module_func has only that */
    const struct gt_support_code_modules *of;
    size_t index; /* of the map's modules */
    uint64_t offset;
    size_t *recent; /* 1 + the function that was asked for last; 0: none */
    bool *seen;     /* of each function with a pattern: it was there */
    bool patterns;  /* it was found by one */
};

struct candidate {
    size_t index, function; /* the function that was seen there; index: as above */
    uint64_t offset;
    bool used;
};

struct gt_support_code_modules {
    struct gt_recording_code_map map;
    struct gt_support_code_index index;
    size_t *whole; /* of each function: the one that it is a part of, or itself */
    struct candidate candidate[CANDIDATES];
    unsigned next_candidate;
    struct instance *instance[MAX_INSTANCES];
    size_t n_instances, n_seen;
    struct gt_track_func *anon;
    bool (*is_user)(void *self);
    void *self;
};

/* ---- the map ------------------------------------------------------------------------------- */

/* NAME.cold is a part of NAME that the compiler moved away. */
static void find_wholes(struct gt_support_code_modules *c, const struct gt_recording_code_module *m)
{
    GHashTable *by_name = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = m->first + m->n; i-- > m->first;) /* the first of a name stays */
        g_hash_table_insert(by_name, (void *)c->map.function[i].name, (void *)(i + 1));
    for (size_t i = m->first; i < m->first + m->n; i++) {
        const char *name = c->map.function[i].name, *cold = strstr(name, ".cold");
        c->whole[i] = i;
        if (!cold)
            continue;
        char *rest = g_strndup(name, (gsize)(cold - name));
        size_t whole = (size_t)g_hash_table_lookup(by_name, rest);
        if (whole)
            c->whole[i] = whole - 1;
        g_free(rest);
    }
    g_hash_table_destroy(by_name);
}

static int read_map(const char *path, struct gt_recording_code_map *map, struct gt_error *err)
{
    char *text;
    size_t size;
    struct gt_error why = {0};
    int status = gt_file_read(path, MAP_LIMIT, &text, &size, err);
    if (status < 0)
        return status;
    status = gt_recording_code_map_read(text, size, map, &why);
    free(text);
    return status < 0 ? gt_error_set(err, status, "%.300s: %s", path, why.text) : 0;
}

int gt_support_code_modules_read(const char *path, struct gt_track_func *anon,
                                 bool (*is_user)(void *self), void *self,
                                 struct gt_support_code_modules **out, struct gt_error *err)
{
    struct gt_recording_code_map map;
    int status = read_map(path, &map, err);
    if (status < 0)
        return status;
    struct gt_support_code_modules *c = g_new0(struct gt_support_code_modules, 1);
    c->map = map;
    c->anon = anon;
    c->is_user = is_user;
    c->self = self;
    c->whole = g_new0(size_t, map.n_functions + 1);
    for (size_t i = 0; i < map.n_modules; i++)
        find_wholes(c, &map.module[i]);
    gt_support_code_index_init(&c->index, &c->map);
    *out = c;
    return 0;
}

void gt_support_code_modules_free(struct gt_support_code_modules *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n_instances; i++) {
        free(c->instance[i]->module.funcs);
        g_free(c->instance[i]->recent);
        g_free(c->instance[i]->seen);
        g_free(c->instance[i]);
    }
    gt_support_code_index_free(&c->index);
    g_free(c->whole);
    gt_recording_code_map_free(&c->map);
    g_free(c);
}

/* ---- instances ----------------------------------------------------------------------------- */

/* Linux on x86 has its vectors in functions of their own; elsewhere tables are known by their form.
 */
static bool is_vectors(const char *name)
{
    static const char *const names[] = {"early_idt_handler_array", "irq_entries_start",
                                        "spurious_entries_start", "entry_SYSCALL_64"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return g_str_has_prefix(name, "asm_exc_") || g_str_has_prefix(name, "asm_sysvec_");
}

/* Kernels for x86 may jump to a thunk instead of returning: it is their return, no call. */
static uint32_t flags_of(const char *name)
{
    if (is_vectors(name))
        return GT_FUNC_VECTORS;
    return g_str_has_suffix(name, "return_thunk") ? GT_FUNC_STUB : 0;
}

static struct instance *add_instance(struct gt_support_code_modules *c, size_t index,
                                     uint64_t offset)
{
    const struct gt_recording_code_module *m = &c->map.module[index];
    void *funcs = NULL;
    if (c->n_instances == MAX_INSTANCES ||
        posix_memalign(&funcs, 16, (m->n + 1) * sizeof(struct gt_track_func)) != 0)
        return NULL;
    struct instance *p = g_new0(struct instance, 1);
    *p = (struct instance){.of = c,
                           .index = index,
                           .offset = offset,
                           .recent = g_new0(size_t, 1),
                           .seen = g_new0(bool, m->n)};
    p->module = (struct gt_support_module){.lo = m->start + offset,
                                           .hi = m->end + offset,
                                           .path = (char *)m->path,
                                           .funcs = funcs,
                                           .anon = c->anon,
                                           .recognised = true};
    for (size_t i = 0; i < m->n; i++) {
        const struct gt_recording_code_function *f = &c->map.function[m->first + i];
        p->module.funcs[i] =
            (struct gt_track_func){f->addr + offset, f->addr + f->size + offset, flags_of(f->name)};
    }
    c->instance[c->n_instances++] = p;
    return p;
}

static bool is_known(const struct gt_support_code_modules *c, size_t index, uint64_t offset)
{
    for (size_t i = c->n_instances; i-- > 0;)
        if (c->instance[i]->index == index && c->instance[i]->offset == offset)
            return true;
    return false;
}

/* Another function of the module that was seen at that offset before; NULL: none, or the same. */
static const struct candidate *find_first(struct gt_support_code_modules *c,
                                          const struct candidate *seen)
{
    for (size_t i = 0; i < CANDIDATES; i++) {
        struct candidate *at = &c->candidate[i];
        if (at->used && at->index == seen->index && at->offset == seen->offset)
            return at->function != seen->function ? at : NULL;
    }
    c->candidate[c->next_candidate++ % CANDIDATES] = *seen;
    return NULL;
}

static size_t module_of(const struct gt_recording_code_map *map, size_t function)
{
    size_t i = 0;
    while (function - map->module[i].first >= map->module[i].n)
        i++;
    return i;
}

static void look(struct gt_support_code_modules *c, uint64_t pc, const uint8_t *bytes)
{
    size_t function = gt_support_code_index_by_hash(&c->index, bytes);
    if (!function--)
        return;
    uint64_t offset = pc - c->map.function[function].addr;
    size_t index = module_of(&c->map, function);
    if (offset % GT_PAGE || is_known(c, index, offset))
        return;
    struct candidate seen = {index, function, offset, true};
    if (offset == 0 || find_first(c, &seen))
        add_instance(c, index, offset);
}

/* A module that is loaded again is the last one seen there, again. NULL: it is new there. */
static struct instance *see_again(struct gt_support_code_modules *c, size_t index, uint64_t offset)
{
    for (size_t i = c->n_instances; i-- > 0;) {
        struct instance *p = c->instance[i];
        if (p->index != index || p->offset != offset)
            continue;
        for (; i + 1 < c->n_instances; i++)
            c->instance[i] = c->instance[i + 1];
        c->instance[i] = p;
        return p;
    }
    return NULL;
}

static void see_function(struct gt_support_code_modules *c, struct instance *p, size_t function)
{
    bool *seen = &p->seen[function - c->map.module[p->index].first];
    c->n_seen += !*seen;
    *seen = true;
}

/* Another function of the module is in the same page. */
static bool has_neighbour(const struct gt_support_code_modules *c, size_t index, uint64_t offset,
                          uint64_t pc, const struct gt_support_code_page *bytes)
{
    return gt_support_code_index_compare(&c->index, &c->map.module[index], offset, pc, bytes)
               .there > 1;
}

static void look_for_patterns(struct gt_support_code_modules *c, uint64_t pc,
                              const struct gt_support_code_page *bytes)
{
    unsigned same;
    size_t function = gt_support_code_index_by_pattern(&c->index, pc, bytes, &same);
    if (!function-- || same < GT_CODE_INDEX_ENOUGH)
        return;
    uint64_t offset = pc - c->map.function[function].addr;
    size_t index = module_of(&c->map, function);
    struct candidate seen = {index, function, offset, true};
    struct instance *p = see_again(c, index, offset);
    const struct candidate *first = p ? NULL : find_first(c, &seen);
    if (!p && (first || same >= CERTAIN || has_neighbour(c, index, offset, pc, bytes)))
        p = add_instance(c, index, offset);
    if (!p)
        return;
    p->patterns = true;
    see_function(c, p, function);
    if (first)
        see_function(c, p, first->function);
}

/* A kernel does not run as a user program, where it may once have run at low addresses. */
static bool is_others(const struct gt_support_code_modules *c, const struct instance *p)
{
    return c->map.module[p->index].start >> 63 && !(p->module.lo >> 63) && c->is_user &&
           c->is_user(c->self);
}

/* Other code is where the module was: it was unloaded. */
static bool is_gone(const struct gt_support_code_modules *c, const struct instance *p, uint64_t pc,
                    const struct gt_support_code_page *bytes)
{
    if (!p->patterns || !bytes)
        return false;
    struct gt_support_code_presence found =
        gt_support_code_index_compare(&c->index, &c->map.module[p->index], p->offset, pc, bytes);
    return found.different && !found.there;
}

/* The newest one that is there. */
static struct instance *instance_at(const struct gt_support_code_modules *c, uint64_t pc,
                                    const struct gt_support_code_page *bytes)
{
    for (size_t i = c->n_instances; i-- > 0;) {
        struct instance *p = c->instance[i];
        if (pc - p->module.lo < p->module.hi - p->module.lo && !is_gone(c, p, pc, bytes))
            return p;
    }
    return NULL;
}

struct gt_support_module *gt_support_code_modules_at(struct gt_support_code_modules *c, uint64_t pc,
                                                     const struct gt_support_code_page *bytes)
{
    if (bytes && bytes->left >= GT_CODE_HASHED)
        look(c, pc, bytes->at);
    struct instance *p = instance_at(c, pc, bytes);
    if (bytes && pc >> 63 && (!p || p->patterns)) { /* none is loaded where the kernel is */
        look_for_patterns(c, pc, bytes);
        p = instance_at(c, pc, bytes);
    }
    return !p || (bytes && is_others(c, p)) ? NULL : &p->module;
}

/* 1 + the last function that begins at the address or below; 0: none does. `guess` may be it. */
static size_t last_up_to(const struct gt_recording_code_function *f, size_t n, uint64_t addr,
                         size_t guess)
{
    if (guess && f[guess - 1].addr <= addr && (guess == n || addr < f[guess].addr))
        return guess;
    return GT_SEARCH_UP_TO(f, n, addr, addr);
}

struct gt_track_func *gt_support_code_module_func(const struct gt_support_module *module,
                                                  uint64_t pc)
{
    const struct instance *p = (const struct instance *)module;
    const struct gt_recording_code_module *m = &p->of->map.module[p->index];
    const struct gt_recording_code_function *f = &p->of->map.function[m->first];
    uint64_t linked = pc - p->offset;
    size_t found = last_up_to(f, m->n, linked, *p->recent);
    *p->recent = found;
    if (found == 0 || linked - f[found - 1].addr >= f[found - 1].size)
        return module->anon;
    return &module->funcs[p->of->whole[m->first + found - 1] - m->first];
}

/* NULL: it is not of the module. */
static const struct gt_recording_code_function *function_of(const struct gt_support_module *module,
                                                            const struct gt_track_func *fn)
{
    const struct instance *p = (const struct instance *)module;
    const struct gt_recording_code_module *m = &p->of->map.module[p->index];
    if (fn < module->funcs || fn >= module->funcs + m->n)
        return NULL;
    return &p->of->map.function[m->first + (size_t)(fn - module->funcs)];
}

const char *gt_support_code_module_name(const struct gt_support_module *module,
                                        const struct gt_track_func *fn)
{
    const struct gt_recording_code_function *f = function_of(module, fn);
    return f ? f->name : NULL;
}

bool gt_support_code_module_source(const struct gt_support_module *module,
                                   const struct gt_track_func *fn, struct gt_elf_function_line *out)
{
    const struct gt_recording_code_function *f = function_of(module, fn);
    if (!f || !f->file)
        return false;
    *out = (struct gt_elf_function_line){f->file, f->line, f->lines};
    return true;
}

bool gt_support_code_modules_have_lines(const struct gt_support_code_modules *c)
{
    for (size_t i = 0; i < c->map.n_functions; i++)
        if (c->map.function[i].file)
            return true;
    return false;
}

/* ---- results ------------------------------------------------------------------------------- */

size_t gt_support_code_modules_instances(const struct gt_support_code_modules *c)
{
    return c->n_instances;
}

size_t gt_support_code_modules_count(const struct gt_support_code_modules *c)
{
    return c->n_instances + c->n_seen;
}

int gt_support_code_modules_write(const struct gt_support_code_modules *c, const char *path,
                                  struct gt_error *err)
{
    struct gt_text text = {0};
    for (size_t i = 0; i < c->n_instances; i++) {
        const struct instance *p = c->instance[i];
        gt_recording_code_found_begin(&text, p->index, p->offset);
        for (size_t k = 0; k < c->map.module[p->index].n; k++)
            if (p->seen[k])
                gt_recording_code_found_function(&text, k);
        gt_recording_code_found_end(&text);
    }
    int status = gt_file_replace_text(path, &text, err);
    gt_text_free(&text);
    return status;
}

const struct gt_recording_code_map *
gt_support_code_modules_map(const struct gt_support_code_modules *c)
{
    return &c->map;
}

const struct gt_recording_code_linux *
gt_support_code_modules_linux(const struct gt_support_code_modules *c)
{
    return &c->map.os;
}

enum { FILTER = 1 << 20 };

static void index_hashes(struct gt_support_code_index *x)
{
    x->by_hash = g_hash_table_new(g_int64_hash, g_int64_equal);
    x->filter = g_new0(uint64_t, FILTER / 64);
    for (size_t i = 0; i < x->map->n_functions; i++) {
        uint64_t *hash = &x->map->function[i].hash;
        if (!x->map->function[i].hashed)
            continue;
        g_hash_table_insert(x->by_hash, hash, (void *)(i + 1));
        x->filter[*hash % FILTER / 64] |= UINT64_C(1) << *hash % 64;
    }
}

static void index_patterns(struct gt_support_code_index *x)
{
    x->in_page = g_new0(size_t, GT_PAGE);
    x->next_in_page = g_new0(size_t, x->map->n_functions + 1);
    for (size_t i = x->map->n_functions; i-- > 0;) {
        size_t *first = &x->in_page[x->map->function[i].addr % GT_PAGE];
        if (!x->map->function[i].pattern)
            continue;
        x->next_in_page[i] = *first;
        *first = i + 1;
    }
}

void gt_support_code_index_init(struct gt_support_code_index *x,
                                const struct gt_recording_code_map *map)
{
    *x = (struct gt_support_code_index){.map = map};
    index_hashes(x);
    index_patterns(x);
}

void gt_support_code_index_free(struct gt_support_code_index *x)
{
    g_hash_table_destroy(x->by_hash);
    g_free(x->filter);
    g_free(x->in_page);
    g_free(x->next_in_page);
}

size_t gt_support_code_index_by_hash(const struct gt_support_code_index *x, const uint8_t *bytes)
{
    uint64_t hash = gt_recording_code_hash(bytes);
    bool may_be = x->filter[hash % FILTER / 64] >> hash % 64 & 1;
    return may_be ? (size_t)g_hash_table_lookup(x->by_hash, &hash) : 0;
}

/* How many bytes of the pattern are there; negative: one differs. */
static int matches(const struct gt_recording_code_pattern *p, const uint8_t *bytes, size_t left)
{
    int same = 0;
    for (size_t i = 0; i < p->n && i < left; i++) {
        if (!gt_recording_code_pattern_knows(p, i))
            continue;
        if (p->byte[i] != bytes[i])
            return -1;
        same++;
    }
    return same;
}

size_t gt_support_code_index_by_pattern(const struct gt_support_code_index *x, uint64_t pc,
                                        const struct gt_support_code_page *bytes, unsigned *same)
{
    size_t function = 0;
    int most = 0;
    for (size_t i = x->in_page[pc % GT_PAGE]; i; i = x->next_in_page[i - 1]) {
        int n = matches(x->map->function[i - 1].pattern, bytes->at, bytes->left);
        if (n <= 0 || n < most)
            continue;
        function = n > most ? i : 0;
        most = n;
    }
    *same = (unsigned)most;
    return function;
}

struct gt_support_code_presence
gt_support_code_index_compare(const struct gt_support_code_index *x,
                              const struct gt_recording_code_module *module, uint64_t offset,
                              uint64_t pc, const struct gt_support_code_page *bytes)
{
    struct gt_support_code_presence found = {0};
    const struct gt_recording_code_function *f = &x->map->function[module->first];
    const uint8_t *page = bytes->at - bytes->before;
    uint64_t first = pc - bytes->before - offset, size = bytes->before + bytes->left;
    for (size_t i = GT_SEARCH_BELOW(f, module->n, addr, first); i < module->n; i++) {
        uint64_t at = f[i].addr - first;
        if (at >= size)
            break;
        int n = f[i].pattern ? matches(f[i].pattern, page + at, (size_t)(size - at)) : 0;
        found.there += n >= (int)GT_CODE_INDEX_ENOUGH;
        found.different += n < 0;
    }
    return found;
}
