/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names for the processes of a guest: see sysroot.h. */
#include "names/processes/sysroot.h"

#include "names/placement/map_lines.h"
#include "names/placement/symbolize.h"
#include "names/processes/match.h"
#include "names/processes/processes.h"
#include "names/processes/sessions.h"

#include <inttypes.h>
#include <string.h>

/* Functions of earlier programs that are open in a session. */
#define OPEN_MAX 256

/* A module of one or more sessions. */
struct module {
    struct gt_place_symbols *symbols;
    uint64_t lo; /* the link address it begins with */
    const char *build_id;
    bool refused; /* its name is another's */
};

static void free_module(void *data)
{
    struct module *m = data;
    gt_place_symbols_free(m->symbols);
    g_free(m);
}

static char *module_path(const struct gt_place *p)
{
    return p->further ? g_strdup_printf("%s@0x%" PRIx64, p->part->path, p->start)
                      : g_strdup(p->part->path);
}

/* The module of a place, with all of its file's functions from there on: where it ends in a process
 * the map says. NULL where one of that name begins with another function. */
static struct module *find_module(GHashTable *modules, const struct gt_place *p, bool prefix)
{
    g_autofree char *path = module_path(p);
    struct module *m = g_hash_table_lookup(modules, path);
    if (!m) {
        struct gt_place all = *p;
        all.hi = p->part->hi;
        m = g_new0(struct module, 1);
        m->symbols = gt_place_symbols_new(&all, prefix);
        m->lo = p->lo;
        m->build_id = p->source->build_id;
        g_hash_table_insert(modules, g_steal_pointer(&path), m);
    }
    return m->lo == p->lo ? m : NULL;
}

/* Of every process; functions called there without a name go into the module, too. */
static void add_modules(GHashTable *modules, struct gt_sysroot_process *process, bool prefix)
{
    const struct gt_place_entries *e = &process->entries;
    for (guint i = 0; i < process->places->len;) {
        const struct gt_place *p = &g_array_index(process->places, struct gt_place, i);
        struct module *m = find_module(modules, p, prefix);
        if (!m) {
            g_array_remove_index(process->places, i);
            continue;
        }
        for (size_t k = gt_place_entries_at(e, p->start); k < e->n && e->addr[k] < p->end; k++)
            gt_place_symbols_add(m->symbols, e->addr[k] - p->start + p->lo, NULL);
        i++;
    }
}

static gint by_path(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int put_modules(GHashTable *modules, const struct gt_uftrace_dir *dir, struct gt_error *err)
{
    guint n;
    int status = 0;
    g_autofree char **paths = (char **)g_hash_table_get_keys_as_array(modules, &n);
    qsort(paths, n, sizeof *paths, by_path);
    for (guint i = 0; i < n && status == 0; i++) {
        struct module *m = g_hash_table_lookup(modules, paths[i]);
        const struct gt_uftrace_module module = {paths[i], m->build_id};
        status = gt_place_symbols_put(m->symbols, dir, &module, err);
        m->refused = status == GT_E_EXISTS;
        status = m->refused ? 0 : status;
    }
    return status;
}

static const struct module *module_of(GHashTable *modules, const struct gt_place *p)
{
    g_autofree char *path = module_path(p);
    return g_hash_table_lookup(modules, path);
}

static void add_lines(GHashTable *modules, const struct gt_sysroot_process *process, GArray *lines)
{
    for (guint i = 0; i < process->places->len; i++) {
        const struct gt_place *p = &g_array_index(process->places, struct gt_place, i);
        g_autofree char *path = module_path(p);
        const struct module *m = module_of(modules, p);
        if (!m->refused)
            gt_place_map_lines_add(lines, p->start, p->end, path, m->build_id);
    }
}

/* ---- open calls ---------------------------------------------------------------------------- */

static bool is_left_open(const struct gt_sysroot_process *p, uint64_t addr)
{
    return gt_place_entries_contain(&p->open, addr) && !gt_place_entries_contain(&p->entries, addr);
}

/* The place, of those before the process at the index, in which the function was entered. */
static const struct gt_place *opened_in(const GArray *processes, guint at, uint64_t addr)
{
    const struct gt_sysroot_process *p = &g_array_index(processes, struct gt_sysroot_process, at);
    const uint32_t pid = p->pid;
    while (at-- > 0 && (--p)->pid == pid) {
        for (guint i = 0; i < p->places->len && !is_left_open(p, addr); i++) {
            const struct gt_place *place = &g_array_index(p->places, struct gt_place, i);
            if (place->start <= addr && addr < place->end)
                return place;
        }
        if (!is_left_open(p, addr))
            return NULL;
    }
    return NULL;
}

/* A line for the function alone, with its name of then; without a path where it had none. */
static int add_open(const struct gt_uftrace_dir *dir, GHashTable *modules,
                    const struct gt_place *place, uint64_t addr, GArray *lines,
                    struct gt_error *err)
{
    const struct module *m = place ? module_of(modules, place) : NULL;
    const char *name = m && !m->refused
                           ? gt_place_symbols_name(m->symbols, addr - place->start + place->lo)
                           : NULL;
    g_autofree char *file = place ? module_path(place) : NULL;
    g_autofree char *path = name ? g_strdup_printf("%s@0x%" PRIx64 "-open", file, addr) : NULL;
    const struct gt_uftrace_symbol sym = {0, 1, name, 't'};
    const struct gt_uftrace_module module = {path, NULL};
    int status = name ? gt_uftrace_dir_put_symbols(dir, &module, &sym, 1, err) : 0;
    gt_place_map_lines_add(lines, addr, addr + 1, status == 0 ? path : NULL, NULL);
    return status == GT_E_EXISTS ? 0 : status;
}

/* Appends the lines of functions of earlier programs, of the process at the index. */
static int add_all_open(const struct gt_uftrace_dir *dir, GHashTable *modules,
                        const GArray *processes, guint at, GArray *lines, struct gt_error *err)
{
    const struct gt_sysroot_process *p = &g_array_index(processes, struct gt_sysroot_process, at);
    int status = 0;
    for (size_t i = 0; i < p->open.n && lines->len < OPEN_MAX && status == 0; i++)
        if (is_left_open(p, p->open.addr[i]))
            status = add_open(dir, modules, opened_in(processes, at, p->open.addr[i]),
                              p->open.addr[i], lines, err);
    return status;
}

/* Cuts the lines of the process around those that are there. */
static int cut_lines(const struct gt_uftrace_dir *dir, const GArray *own, GArray *lines,
                     struct gt_error *err)
{
    const guint n_cuts = lines->len;
    int status = 0;
    for (guint i = 0; i < own->len && status == 0; i++) {
        const struct gt_place_map_line *m = &g_array_index(own, struct gt_place_map_line, i);
        const struct gt_uftrace_mapping line = {m->start, m->end, m->path, m->build_id};
        struct gt_uftrace_symtab tab = {0};
        gt_place_map_find_symbols(dir, m->path, &tab);
        status = gt_place_map_lines_cut(lines, n_cuts, &line, &tab, dir, err);
        gt_uftrace_symtab_free(&tab);
    }
    for (guint i = n_cuts; i-- > 0;)
        if (!g_array_index(lines, struct gt_place_map_line, i).path)
            g_array_remove_index(lines, i);
    return status;
}

/* ---- maps ---------------------------------------------------------------------------------- */

static int put_map(const struct gt_sysroot_base *b, GHashTable *modules, const GArray *processes,
                   guint at, struct gt_error *err)
{
    const struct gt_sysroot_process *p = &g_array_index(processes, struct gt_sysroot_process, at);
    GArray *own = gt_place_map_lines_new(), *lines = gt_place_map_lines_new();
    int status = 0;
    if (at > 0 && p[-1].pid == p->pid)
        status = add_all_open(&b->dir, modules, processes, at, lines, err);
    if (status == 0 && lines->len) {
        add_lines(modules, p, own);
        status = cut_lines(&b->dir, own, lines, err);
    } else {
        add_lines(modules, p, lines);
    }
    if (status == 0)
        status = gt_sysroot_put_map(b, p, lines, err);
    g_array_free(own, TRUE);
    g_array_free(lines, TRUE);
    return status;
}

static int put_all(const struct gt_sysroot_base *b, GArray *processes, bool prefix,
                   struct gt_error *err)
{
    g_autoptr(GHashTable) modules =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_module);
    for (guint i = 0; i < processes->len; i++)
        add_modules(modules, &g_array_index(processes, struct gt_sysroot_process, i), prefix);
    int status = put_modules(modules, &b->dir, err);
    for (guint i = 0; i < processes->len && status == 0; i++)
        status = put_map(b, modules, processes, i, err);
    return status < 0 ? status : gt_sysroot_put_tasks(b, processes, err);
}

/* ---- what to say --------------------------------------------------------------------------- */

static size_t count_processes(const GArray *processes, const struct gt_image_symbol_source *source)
{
    size_t n = 0;
    uint32_t latest = 0;
    for (guint i = 0; i < processes->len; i++) {
        const struct gt_sysroot_process *p =
            &g_array_index(processes, struct gt_sysroot_process, i);
        bool in = false;
        for (guint k = 0; k < p->places->len; k++)
            in = in || g_array_index(p->places, struct gt_place, k).source == source;
        n += in && p->pid != latest;
        latest = in ? p->pid : latest;
    }
    return n;
}

/* What the recording does not say, in one line. */
static void report_missing(const struct gt_sysroot_base *b, bool grouped, GPtrArray *lines)
{
    const bool execs = b->execs->len > 0;
    if (grouped && execs)
        return;
    g_ptr_array_add(
        lines, g_strdup_printf("it is not known%s%s%s",
                               grouped ? "" : " which tasks are one process: each is taken for one",
                               grouped || execs ? "" : "; nor",
                               execs ? ""
                                     : " when a process executed another program: what ran more"
                                       " has the names where two are in one place"));
}

static void report(const struct gt_sysroot_base *b, const struct gt_sysroot_files *files,
                   const GArray *processes, bool grouped, const char *folder, GPtrArray *lines)
{
    for (size_t i = 0; i < files->n; i++) {
        size_t n = count_processes(processes, &files->source[i]);
        if (n)
            g_ptr_array_add(lines, g_strdup_printf("%s: ran in %zu process%s",
                                                   files->source[i].file, n, n == 1 ? "" : "es"));
    }
    if (files->cut)
        g_ptr_array_add(lines,
                        g_strdup_printf("%s has too many files: some were not used", folder));
    report_missing(b, grouped, lines);
}

/* ---- all of it ----------------------------------------------------------------------------- */

static int match(const struct gt_recording_records *at, const struct gt_sysroot_files *files,
                 const char *folder, GArray *processes, GPtrArray *lines, struct gt_error *err)
{
    gt_sysroot_match(files, processes, lines);
    gt_sysroot_join(processes);
    return processes->len ? 0
                          : gt_error_set(err, GT_E_NOT_FOUND,
                                         "%s: none of its %zu programs and libraries ran in %s",
                                         folder, files->n, at->file ? at->file : at->dir);
}

static int read_processes(const struct gt_recording_records *at, const struct gt_sysroot_base *b,
                          GArray **out, bool *grouped, struct gt_error *err)
{
    const struct gt_place_entries execs = {(uint64_t *)(void *)b->execs->data, b->execs->len};
    const struct gt_sysroot_tasks tasks = {
        (const struct gt_sysroot_task *)(const void *)b->line->data, b->line->len, &b->named,
        &execs};
    return gt_sysroot_processes_read(at, &tasks, out, grouped, err);
}

int gt_sysroot_apply(const struct gt_recording_records *at, const char *folder, bool prefix,
                     GPtrArray *lines, struct gt_error *err)
{
    struct gt_sysroot_base base;
    struct gt_sysroot_files files = {0};
    GArray *processes = NULL;
    bool grouped = false;
    int status = gt_sysroot_base_read(at->dir, &base, err);
    if (status == 0)
        status = gt_sysroot_files_load(folder, &files, err);
    if (status == 0)
        status = read_processes(at, &base, &processes, &grouped, err);
    if (status == 0)
        status = match(at, &files, folder, processes, lines, err);
    if (status == 0)
        status = put_all(&base, processes, prefix, err);
    if (status == 0)
        report(&base, &files, processes, grouped, folder, lines);
    if (processes)
        g_array_free(processes, TRUE);
    gt_sysroot_files_clear(&files);
    gt_sysroot_base_free(&base);
    return status;
}
