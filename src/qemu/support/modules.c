/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest's modules and functions: see modules.h. */
#include "qemu/support/modules.h"

#include "base/page.h"
#include "guest/process.h"
#include "qemu/support/code_modules.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct gt_track_func *funcs_create(size_t n)
{
    void *p = NULL;
    if (posix_memalign(&p, 16, (n ? n : 1) * sizeof(struct gt_track_func)) != 0)
        abort(); /* as GLib does */
    memset(p, 0, (n ? n : 1) * sizeof(struct gt_track_func));
    return p;
}

static struct gt_support_module *module_create(struct gt_support_modules *m, uint64_t lo,
                                               uint64_t hi, const char *path)
{
    struct gt_support_module *module = g_new0(struct gt_support_module, 1);
    module->lo = lo;
    module->hi = hi;
    module->path = g_strdup(path);
    module->anon = funcs_create(1);
    *module->anon = (struct gt_track_func){.lo = lo, .hi = hi, .flags = GT_FUNC_ANON};
    module->stubs = funcs_create(1);
    *module->stubs =
        (struct gt_track_func){.lo = lo, .hi = hi, .flags = GT_FUNC_ANON | GT_FUNC_STUB};
    module->handlers = g_ptr_array_new();
    module->entered = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    g_ptr_array_add(m->all, module);
    return module;
}

/* A file that was mapped once: the same as long as it is not written. */
struct file {
    struct gt_support_module_file id;
    char *path;
    const char *opened; /* of a removed file: where it can still be read; NULL: nowhere */
    struct gt_elf_symbols *symbols; /* NULL: none to be had */
    GHashTable *at;                 /* lo -> struct gt_support_module */
    struct gt_support_module *last; /* the newest of them */
};

static guint hash_file(gconstpointer key)
{
    const struct file *f = key;
    uint64_t mixed = f->id.inode * 31 + f->id.device + f->id.size * 7 + f->id.mtime;
    return g_str_hash(f->path) ^ (guint)(mixed ^ mixed >> 32);
}

static gboolean is_same_file(gconstpointer a, gconstpointer b)
{
    const struct file *x = a, *y = b;
    return memcmp(&x->id, &y->id, sizeof x->id) == 0 && strcmp(x->path, y->path) == 0;
}

static gint compare_addresses(gconstpointer a, gconstpointer b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

void gt_support_modules_init(struct gt_support_modules *m, bool user,
                             void (*added)(void *, struct gt_support_module *), void *self)
{
    *m = (struct gt_support_modules){.user = user, .added = added, .self = self};
    m->all = g_ptr_array_new();
    m->live = g_ptr_array_new();
    m->displaced = g_ptr_array_new();
    m->files = g_hash_table_new(hash_file, is_same_file);
    m->paths = g_hash_table_new(g_str_hash, g_str_equal);
    m->by_address = g_tree_new(compare_addresses);
    /* The first one takes what belongs to no file. */
    module_create(m, 0, UINT64_MAX, "guest");
}

/* Of thousands of functions a program uses few. */
static struct gt_track_func *func_of(const struct gt_support_module *module,
                                     const struct gt_elf_symbol *symbol)
{
    struct gt_track_func *fn = g_hash_table_lookup(module->functions, symbol);
    if (fn)
        return fn;
    fn = funcs_create(1);
    *fn = (struct gt_track_func){
        .lo = module->lo + symbol->addr,
        .hi = module->lo + symbol->addr + symbol->size,
        .flags = gt_support_module_flags_of(symbol),
    };
    g_hash_table_insert(module->functions, (void *)symbol, fn);
    return fn;
}

struct load {
    struct gt_support_modules *modules;
    uint64_t host_addr;
    struct gt_support_module *module;
    uint64_t anon_lo, anon_hi; /* where there is no file; hi 0: not known */
    uint64_t now;
};

static bool overlaps(const struct gt_support_module *a, uint64_t lo, uint64_t hi)
{
    return a->lo < hi && lo < a->hi;
}

/* The file at the path may be another than the mapped one: then there is none to compare. */
static struct gt_support_module_file identify(const struct gt_process_mapping *map)
{
    struct stat st;
    struct gt_support_module_file file = {.device = (uint64_t)map->dev_major << 32 | map->dev_minor,
                                          .inode = map->inode};
    if (stat(map->path, &st) == 0) {
        file.size = (uint64_t)st.st_size;
        file.mtime = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
    }
    return file;
}

static struct file *file_of(struct gt_support_modules *m, const struct gt_support_module_file *id,
                            const char *path)
{
    struct file key = {.id = *id, .path = (char *)path};
    struct file *f = g_hash_table_lookup(m->files, &key);
    if (f)
        return f;
    f = g_new0(struct file, 1);
    f->id = *id;
    f->path = g_strdup(path);
    f->at = g_hash_table_new(g_int64_hash, g_int64_equal);
    g_hash_table_add(m->files, f);
    return f;
}

static void read_symbols(struct gt_support_module *module, struct file *file)
{
    const char *path = file->opened ? file->opened : module->path;
    if (!file->last && gt_elf_symbols_load(path, &file->symbols, NULL) < 0)
        file->symbols = NULL;
    module->symbols = file->symbols;
    if (module->symbols && module->symbols->load_size > module->hi - module->lo)
        module->hi = module->lo + module->symbols->load_size;
    module->anon->hi = module->stubs->hi = module->hi;
}

static void set_apart(struct gt_support_modules *m, struct gt_support_module *module,
                      struct gt_support_module *other)
{
    module->apart = other->apart = true;
    g_ptr_array_add(m->displaced, other);
}

/* The module's place is its own now; those that had a part of it lose theirs. */
static void claim_range(struct gt_support_modules *m, struct gt_support_module *module)
{
    GTreeNode *node = g_tree_upper_bound(m->by_address, &module->lo), *next;
    GTreeNode *before = node ? g_tree_node_previous(node) : g_tree_node_last(m->by_address);
    for (node = before ? before : node; node; node = next) {
        struct gt_support_module *other = g_tree_node_value(node);
        next = g_tree_node_next(node);
        if (other->lo >= module->hi)
            break;
        if (other == module || !overlaps(other, module->lo, module->hi))
            continue;
        set_apart(m, module, other);
    }
    for (guint i = 0; i < m->displaced->len; i++) {
        struct gt_support_module *other = m->displaced->pdata[i];
        g_tree_remove(m->by_address, &other->lo);
    }
    g_tree_insert(m->by_address, &module->lo, module);
    module->gone = false;
    g_ptr_array_add(m->live, module);
}

static struct gt_support_module *add_module(struct gt_support_modules *m, struct file *file,
                                            uint64_t lo, uint64_t hi)
{
    struct gt_support_module *module = module_create(m, lo, hi, file->path);
    module->functions = g_hash_table_new(NULL, NULL);
    read_symbols(module, file);
    module->saved = file->last && file->last->saved;
    module->same = file->last;
    file->last = module;
    g_hash_table_replace(file->at, &module->lo, module);
    return module;
}

/* Two modules of one path are distinguished by time, whatever is in them. */
static void note_path(struct gt_support_modules *m, struct gt_support_module *module)
{
    struct gt_support_module *other = g_hash_table_lookup(m->paths, module->path);
    if (other && other != module)
        set_apart(m, module, other);
    g_hash_table_replace(m->paths, module->path, module);
}

/* On the worker: which file is mapped there, and what it contains. */
static void load_module(void *arg)
{
    struct load *load = arg;
    struct gt_support_modules *m = load->modules;
    struct gt_process_mapping map;
    int found = gt_process_mapping_at(load->host_addr, &map);
    if (found == 0) {
        load->anon_lo = map.start - m->guest_base;
        load->anon_hi = map.end - m->guest_base;
    }
    if (found != 1 || !map.path[0])
        return;
    uint64_t lo = map.base - m->guest_base;
    struct gt_support_module_file id = identify(&map);
    struct file *file = file_of(m, &id, map.path);
    if (map.deleted && !file->opened)
        file->opened = gt_process_readable_path(&map, m->program);
    struct gt_support_module *module = g_hash_table_lookup(file->at, &lo);
    bool added = !module || !module->gone || g_tree_lookup(m->by_address, &lo) != module;
    g_ptr_array_set_size(m->displaced, 0);
    if (!module || !module->gone)
        module = add_module(m, file, lo, map.end - m->guest_base);
    claim_range(m, module);
    note_path(m, module);
    if (added) {
        module->loaded = load->now;
        m->added(m->self, module);
    }
    load->module = module;
}

/* On the worker. */
static void announce(void *arg)
{
    const struct load *load = arg;
    load->modules->added(load->modules->self, load->module);
}

struct gt_support_module *gt_support_modules_add_made(struct gt_support_modules *m, uint64_t lo,
                                                      const char *path,
                                                      struct gt_elf_symbols *symbols)
{
    struct gt_support_module *module = module_create(m, lo, lo + symbols->load_size, path);
    struct load load = {.modules = m, .module = module};
    module->symbols = symbols;
    module->functions = g_hash_table_new(NULL, NULL);
    module->made = module->lines_read = true;
    module->loaded = m->now ? m->now(m->self) : 0;
    g_ptr_array_set_size(m->displaced, 0);
    return gt_thread_worker_call(m->worker, announce, &load) < 0 ? NULL : module;
}

static struct gt_support_module *find_known(struct gt_support_modules *m, uint64_t pc)
{
    for (guint i = m->live->len; i-- > 0;) {
        struct gt_support_module *module = g_ptr_array_index(m->live, i);
        if (pc >= module->lo && pc < module->hi)
            return module;
    }
    return NULL;
}

static bool is_anon(const struct gt_support_modules *m, uint64_t pc)
{
    for (unsigned i = 0; i < GT_MODULES_ANON; i++)
        if (pc >= m->anon[i].lo && pc < m->anon[i].hi)
            return true;
    return false;
}

static void forget_anon(struct gt_support_modules *m, uint64_t lo, uint64_t hi)
{
    for (unsigned i = 0; i < GT_MODULES_ANON; i++)
        if (m->anon[i].lo < hi && lo < m->anon[i].hi)
            m->anon[i].hi = 0;
}

void gt_support_modules_mapped(struct gt_support_modules *m, uint64_t lo, uint64_t size, bool anon)
{
    uint64_t hi = size > UINT64_MAX - lo ? UINT64_MAX : lo + size;
    forget_anon(m, lo, hi);
    if (!anon)
        return;
    unsigned i = m->next_anon++ % GT_MODULES_ANON;
    m->anon[i].lo = lo;
    m->anon[i].hi = hi;
}

struct gt_support_module *gt_support_modules_at(struct gt_support_modules *m, uint64_t pc,
                                                const void *host_addr)
{
    struct gt_support_module *module = g_ptr_array_index(m->all, 0), *known;
    if (m->code) {
        size_t before = (uintptr_t)host_addr % GT_PAGE;
        const struct gt_support_code_page bytes = {host_addr, before, GT_PAGE - before};
        size_t found = gt_support_code_modules_instances(m->code);
        known = gt_support_code_modules_at(m->code, pc, host_addr ? &bytes : NULL);
        if (gt_support_code_modules_instances(m->code) != found)
            m->code_found(m->self);
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
    struct load load = {
        .modules = m,
        .host_addr = (uint64_t)(uintptr_t)host_addr,
        .now = m->now ? m->now(m->self) : 0,
    };
    if (gt_thread_worker_call(m->worker, load_module, &load) < 0)
        return module;
    if (load.anon_hi)
        gt_support_modules_mapped(m, load.anon_lo, load.anon_hi - load.anon_lo, true);
    return load.module ? load.module : module;
}

static bool is_cold_part(const struct gt_elf_symbol *symbol)
{
    return symbol->type != 'e' && strstr(symbol->name, ".cold") != NULL;
}

/* The compiler moves a function's unlikely code elsewhere, as NAME.cold: it is not a function. */
static struct gt_track_func *whole_of(const struct gt_support_module *module,
                                      const struct gt_elf_symbol *part)
{
    char *name = g_strndup(part->name, (gsize)(strstr(part->name, ".cold") - part->name));
    uint64_t rel;
    const struct gt_elf_symbol *whole = gt_elf_symbols_by_name(module->symbols, name, &rel)
                                            ? gt_elf_symbols_find(module->symbols, rel)
                                            : NULL;
    g_free(name);
    return func_of(module, whole ? whole : part);
}

static struct gt_track_func *anon_func(const struct gt_support_module *module, uint64_t pc)
{
    for (guint i = 0; i < module->handlers->len; i++) {
        struct gt_track_func *fn = g_ptr_array_index(module->handlers, i);
        if (fn->lo == pc)
            return fn;
    }
    return module->anon;
}

struct gt_track_func *gt_support_module_func(const struct gt_support_module *module, uint64_t pc)
{
    if (module->recognised)
        return gt_support_code_module_func(module, pc);
    if (!module->symbols)
        return anon_func(module, pc);
    const struct gt_elf_symbol *symbol = gt_elf_symbols_find(module->symbols, pc - module->lo);
    if (!symbol)
        return gt_elf_symbols_in_plt(module->symbols, pc - module->lo) ? module->stubs
                                                                       : anon_func(module, pc);
    if (is_cold_part(symbol))
        return whole_of(module, symbol);
    return func_of(module, symbol);
}

void gt_support_modules_unmapped(struct gt_support_modules *m, uint64_t lo, uint64_t size)
{
    uint64_t hi = size > UINT64_MAX - lo ? UINT64_MAX : lo + size;
    forget_anon(m, lo, hi);
    for (guint i = m->live->len; i-- > 0;) {
        struct gt_support_module *module = g_ptr_array_index(m->live, i);
        if (!overlaps(module, lo, hi))
            continue;
        module->gone = true;
        g_ptr_array_remove_index_fast(m->live, i);
    }
}

struct gt_track_func *gt_support_modules_entry(struct gt_support_modules *m, uint64_t pc)
{
    struct gt_support_module *module = find_known(m, pc);
    struct gt_track_func *fn = module ? gt_support_module_func(module, pc) : NULL;
    return fn && !(fn->flags & GT_FUNC_ANON) && fn->lo == pc ? fn : NULL;
}

struct gt_track_func *gt_support_modules_handler(struct gt_support_modules *m, uint64_t pc)
{
    enum { MAX_HANDLERS = 64 };
    struct gt_support_module *module = find_known(m, pc);
    struct gt_track_func *fn = module ? gt_support_module_func(module, pc) : NULL;
    if (!fn || fn != module->anon || module->handlers->len == MAX_HANDLERS)
        return gt_support_modules_entry(m, pc);
    fn = funcs_create(1);
    *fn = (struct gt_track_func){.lo = pc, .hi = pc + 1, .flags = GT_FUNC_UNNAMED};
    g_ptr_array_add(module->handlers, fn);
    return fn;
}

/* How a function changes stacks, by its name: see modules.h. */

/* Functions known by their names, with any leading underscores: those that store the state that a
 * later jump restores, and those that restore it and so may begin a coroutine. */
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
        {"setcontext", GT_FUNC_RESTORER | GT_FUNC_SET_CONTEXT},
        {"jump_fcontext", GT_FUNC_RESTORER},
        {"Unwind_RaiseException", GT_FUNC_UNWIND_RAISE},
        {"Unwind_Resume", GT_FUNC_UNWIND_RESUME},
        {"Unwind_ForcedUnwind", GT_FUNC_UNWIND_RESUME},
        {"Unwind_GetIP", GT_FUNC_GET_IP},
        {"Unwind_GetIPInfo", GT_FUNC_GET_IP},
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

uint32_t gt_support_module_flags_of(const struct gt_elf_symbol *symbol)
{
    if (symbol->type == 'e') /* that name is a file's */
        return 0;
    return (symbol->type == 'P' ? GT_FUNC_STUB : 0) | flags_of_name(symbol->name);
}
