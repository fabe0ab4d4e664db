/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest's modules and functions: see modules.h. */
#include "plugin/modules.h"

#include "guest/process.h"
#include "plugin/code_modules.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct gt_func *funcs_create(size_t n)
{
    void *p = NULL;
    if (posix_memalign(&p, 16, (n ? n : 1) * sizeof(struct gt_func)) != 0)
        abort(); /* as GLib does */
    memset(p, 0, (n ? n : 1) * sizeof(struct gt_func));
    return p;
}

static struct gt_module *module_create(struct gt_modules *m, uint64_t lo, uint64_t hi,
                                       const char *path)
{
    struct gt_module *module = g_new0(struct gt_module, 1);
    module->lo = lo;
    module->hi = hi;
    module->path = g_strdup(path);
    module->anon = funcs_create(1);
    *module->anon = (struct gt_func){.lo = lo, .hi = hi, .flags = GT_FUNC_ANON};
    module->stubs = funcs_create(1);
    *module->stubs = (struct gt_func){.lo = lo, .hi = hi, .flags = GT_FUNC_ANON | GT_FUNC_STUB};
    module->handlers = g_ptr_array_new();
    module->entered = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    g_ptr_array_add(m->all, module);
    return module;
}

void gt_modules_init(struct gt_modules *m, bool user, void (*added)(void *, struct gt_module *),
                     void *self)
{
    *m = (struct gt_modules){.user = user, .added = added, .self = self};
    m->all = g_ptr_array_new();
    m->live = g_ptr_array_new();
    /* The first one takes what belongs to no file. */
    module_create(m, 0, UINT64_MAX, "guest");
}

/* Functions known by their names, whatever leading underscores: those that store the state that a
 * later jump restores, and those that restore it and may so begin a coroutine. */
static uint32_t flags_of_name(const char *name)
{
    static const struct {
        const char *name;
        uint32_t flags;
    } known[] = {
        {"setjmp", GT_FUNC_SAVER},
        {"sigsetjmp", GT_FUNC_SAVER},
        {"getcontext", GT_FUNC_SAVER},
        {"swapcontext", GT_FUNC_SAVER | GT_FUNC_RESTORER},
        {"setcontext", GT_FUNC_RESTORER | GT_FUNC_LEAVES},
        {"jump_fcontext", GT_FUNC_RESTORER},
        {"Unwind_RaiseException", GT_FUNC_RAISES},
        {"Unwind_Resume", GT_FUNC_RESUMES},
        {"Unwind_ForcedUnwind", GT_FUNC_RESUMES},
        {"Unwind_GetIP", GT_FUNC_ASKED},
        {"Unwind_GetIPInfo", GT_FUNC_ASKED},
        {"rust_eh_personality", GT_FUNC_PERSONALITY},
    };
    if (strncmp(name, "__GI_", 5) == 0)
        name += 5;
    name += strspn(name, "_");
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
        if (strcmp(name, known[i].name) == 0)
            return known[i].flags;
    return strstr(name, "_personality_v") ? GT_FUNC_PERSONALITY : 0;
}

static uint32_t flags_of_symbol(const struct gt_symbol *symbol)
{
    if (symbol->type == 'e') /* that name is a file's */
        return 0;
    return (symbol->type == 'P' ? GT_FUNC_STUB : 0) | flags_of_name(symbol->name);
}

static void fill_funcs(struct gt_module *module)
{
    const struct gt_symbols *s = module->symbols;
    module->funcs = funcs_create(s->n_sym);
    for (size_t i = 0; i < s->n_sym; i++)
        module->funcs[i] = (struct gt_func){
            .lo = module->lo + s->sym[i].addr,
            .hi = module->lo + s->sym[i].addr + s->sym[i].size,
            .flags = flags_of_symbol(&s->sym[i]),
        };
}

struct load {
    struct gt_modules *modules;
    uint64_t host_addr;
    struct gt_module *module;
    uint64_t anon_lo, anon_hi; /* where there is no file; hi 0: not known */
    bool added;
};

static bool overlaps(const struct gt_module *a, uint64_t lo, uint64_t hi)
{
    return a->lo < hi && lo < a->hi;
}

/* The file at the path may be another than the mapped one: then there is none to compare. */
static struct gt_module_file identify(const struct gt_mapping *map)
{
    struct stat st;
    struct gt_module_file file = {.device = (uint64_t)map->dev_major << 32 | map->dev_minor,
                                  .inode = map->inode};
    if (stat(map->path, &st) == 0) {
        file.size = (uint64_t)st.st_size;
        file.mtime = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
    }
    return file;
}

static bool is_of(const struct gt_module *m, const struct gt_module_file *file, const char *path)
{
    return memcmp(&m->file, file, sizeof *file) == 0 && strcmp(m->path, path) == 0;
}

/* The newest module of the file, at `lo` if there is one there. */
static struct gt_module *find_earlier(const struct gt_modules *m, const struct gt_module_file *file,
                                      const char *path, uint64_t lo)
{
    struct gt_module *any = NULL;
    for (guint i = m->all->len; i-- > 1;) {
        struct gt_module *module = g_ptr_array_index(m->all, i);
        if (!is_of(module, file, path))
            continue;
        if (module->lo == lo && module->gone)
            return module;
        any = any ? any : module;
    }
    return any;
}

static void read_symbols(struct gt_module *module, const struct gt_module *earlier)
{
    if (earlier)
        module->symbols = earlier->symbols;
    else if (gt_symbols_load(module->path, &module->symbols, NULL) < 0)
        module->symbols = NULL;
    if (module->symbols) {
        if (module->symbols->load_size > module->hi - module->lo)
            module->hi = module->lo + module->symbols->load_size;
        fill_funcs(module);
    }
    module->anon->hi = module->stubs->hi = module->hi;
}

/* The module's place is its own again. */
static void take_place(struct gt_modules *m, struct gt_module *module)
{
    for (guint i = 1; i < m->all->len; i++) {
        struct gt_module *other = g_ptr_array_index(m->all, i);
        if (other != module && overlaps(other, module->lo, module->hi))
            other->replaced = true;
    }
    module->replaced = module->gone = false;
    g_ptr_array_add(m->live, module);
}

/* On the worker: which file is mapped there, and what it contains. */
static void load_module(void *arg)
{
    struct load *load = arg;
    struct gt_modules *m = load->modules;
    struct gt_mapping map;
    int found = gt_process_mapping_at(load->host_addr, &map);
    if (found == 0) {
        load->anon_lo = map.start - m->guest_base;
        load->anon_hi = map.end - m->guest_base;
    }
    if (found != 1 || !map.path[0])
        return;
    uint64_t lo = map.base - m->guest_base;
    struct gt_module_file file = identify(&map);
    struct gt_module *earlier = find_earlier(m, &file, map.path, lo), *module = earlier;
    if (!earlier || earlier->lo != lo || !earlier->gone) {
        module = module_create(m, lo, map.end - m->guest_base, map.path);
        module->file = file;
        read_symbols(module, earlier);
        load->added = true;
    }
    load->added |= module->replaced;
    take_place(m, module);
    load->module = module;
}

static struct gt_module *find_known(struct gt_modules *m, uint64_t pc)
{
    for (guint i = m->live->len; i-- > 0;) {
        struct gt_module *module = g_ptr_array_index(m->live, i);
        if (pc >= module->lo && pc < module->hi)
            return module;
    }
    return NULL;
}

static bool is_anon(const struct gt_modules *m, uint64_t pc)
{
    for (unsigned i = 0; i < GT_MODULES_ANON; i++)
        if (pc >= m->anon[i].lo && pc < m->anon[i].hi)
            return true;
    return false;
}

static void forget_anon(struct gt_modules *m, uint64_t lo, uint64_t hi)
{
    for (unsigned i = 0; i < GT_MODULES_ANON; i++)
        if (m->anon[i].lo < hi && lo < m->anon[i].hi)
            m->anon[i].hi = 0;
}

void gt_modules_mapped(struct gt_modules *m, uint64_t lo, uint64_t size, bool anon)
{
    uint64_t hi = size > UINT64_MAX - lo ? UINT64_MAX : lo + size;
    forget_anon(m, lo, hi);
    if (!anon)
        return;
    unsigned i = m->next_anon++ % GT_MODULES_ANON;
    m->anon[i].lo = lo;
    m->anon[i].hi = hi;
}

struct gt_module *gt_modules_at(struct gt_modules *m, uint64_t pc, const void *host_addr)
{
    enum { PAGE = 4096 };
    struct gt_module *module = g_ptr_array_index(m->all, 0), *known;
    if (m->code) {
        size_t left = PAGE - (size_t)((uintptr_t)host_addr % PAGE);
        size_t found = gt_code_modules_places(m->code);
        known = gt_code_modules_at(m->code, pc, host_addr, left);
        if (gt_code_modules_places(m->code) != found)
            m->code_found();
        return known ? known : module;
    }
    if (!m->user || !host_addr)
        return module;
    known = find_known(m, pc);
    if (known || is_anon(m, pc))
        return known ? known : module;
    if (!m->has_base) {
        m->guest_base = (uint64_t)(uintptr_t)host_addr - pc;
        m->has_base = true;
    }
    struct load load = {.modules = m, .host_addr = (uint64_t)(uintptr_t)host_addr};
    if (gt_worker_call(m->worker, load_module, &load) < 0)
        return module;
    if (load.anon_hi)
        gt_modules_mapped(m, load.anon_lo, load.anon_hi - load.anon_lo, true);
    if (!load.module)
        return module;
    if (load.added)
        m->added(m->self, load.module);
    return load.module;
}

static bool is_cold_part(const struct gt_symbol *symbol)
{
    return symbol->type != 'e' && strstr(symbol->name, ".cold") != NULL;
}

/* The compiler moves a function's unlikely code elsewhere, as NAME.cold: it is no function. */
static struct gt_func *whole_of(const struct gt_module *module, const struct gt_symbol *part)
{
    char *name = g_strndup(part->name, (gsize)(strstr(part->name, ".cold") - part->name));
    uint64_t rel;
    const struct gt_symbol *whole = gt_symbols_by_name(module->symbols, name, &rel)
                                        ? gt_symbols_find(module->symbols, rel)
                                        : NULL;
    g_free(name);
    return whole ? &module->funcs[whole - module->symbols->sym]
                 : &module->funcs[part - module->symbols->sym];
}

static struct gt_func *anon_func(const struct gt_module *module, uint64_t pc)
{
    for (guint i = 0; i < module->handlers->len; i++) {
        struct gt_func *fn = g_ptr_array_index(module->handlers, i);
        if (fn->lo == pc)
            return fn;
    }
    return module->anon;
}

struct gt_func *gt_module_func(const struct gt_module *module, uint64_t pc)
{
    if (module->recognised)
        return gt_code_module_func(module, pc);
    if (!module->symbols)
        return anon_func(module, pc);
    const struct gt_symbol *symbol = gt_symbols_find(module->symbols, pc - module->lo);
    if (!symbol)
        return gt_symbols_in_plt(module->symbols, pc - module->lo) ? module->stubs
                                                                   : anon_func(module, pc);
    if (is_cold_part(symbol))
        return whole_of(module, symbol);
    return &module->funcs[symbol - module->symbols->sym];
}

void gt_modules_unmapped(struct gt_modules *m, uint64_t lo, uint64_t size)
{
    uint64_t hi = size > UINT64_MAX - lo ? UINT64_MAX : lo + size;
    forget_anon(m, lo, hi);
    for (guint i = m->live->len; i-- > 0;) {
        struct gt_module *module = g_ptr_array_index(m->live, i);
        if (!overlaps(module, lo, hi))
            continue;
        module->gone = true;
        g_ptr_array_remove_index_fast(m->live, i);
    }
}

struct gt_func *gt_modules_entry(struct gt_modules *m, uint64_t pc)
{
    struct gt_module *module = find_known(m, pc);
    struct gt_func *fn = module ? gt_module_func(module, pc) : NULL;
    return fn && !(fn->flags & GT_FUNC_ANON) && fn->lo == pc ? fn : NULL;
}

struct gt_func *gt_modules_handler(struct gt_modules *m, uint64_t pc)
{
    enum { MAX_HANDLERS = 64 };
    struct gt_module *module = find_known(m, pc);
    struct gt_func *fn = module ? gt_module_func(module, pc) : NULL;
    if (!fn || fn != module->anon || module->handlers->len == MAX_HANDLERS)
        return gt_modules_entry(m, pc);
    fn = funcs_create(1);
    *fn = (struct gt_func){.lo = pc, .hi = pc + 1, .flags = GT_FUNC_UNNAMED};
    g_ptr_array_add(module->handlers, fn);
    return fn;
}
