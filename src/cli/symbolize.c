/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names for a recorded directory: see symbolize.h. */
#include "cli/symbolize.h"

#include "cli/source_lines.h"
#include "format/uftrace_dir.h"

#include <glib.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAP_LIMIT       (64u << 20)
#define SYM_LIMIT       (1u << 30)
#define RECORDED_ENDING ".recorded"

/* A line of the map to come: first the places, in their order. */
struct module {
    uint64_t start, end;
    char *path;
    char *build_id;
};

struct work {
    struct gt_uftrace_dir dir;
    char *sid;
    struct gt_uftrace_map recorded; /* the lines that the recording wrote */
    struct gt_uftrace_map current;
    struct gt_uftrace_symtab *tab; /* of each recorded line; n 0 where it has none */
    const struct gt_places *places;
    bool prefix;
    GArray *modules; /* struct module */
};

static void clear_module(void *p)
{
    struct module *m = p;
    g_free(m->path);
    g_free(m->build_id);
}

static void add_module(struct work *w, uint64_t start, uint64_t end, const char *path,
                       const char *build_id)
{
    const struct module m = {start, end, g_strdup(path), g_strdup(build_id)};
    g_array_append_val(w->modules, m);
}

/* "PATH", or a further place or a part of it. */
static bool is_part_of(const char *name, const char *path)
{
    size_t len = strlen(path);
    return strncmp(name, path, len) == 0 && (name[len] == '\0' || strchr("+@/", name[len]));
}

/* ---- reading ------------------------------------------------------------------------------- */

static int read_map(const char *path, struct gt_uftrace_map *out, struct gt_error *err)
{
    char *text;
    size_t size;
    int status = gt_file_read(path, MAP_LIMIT, &text, &size, err);
    if (status < 0)
        return status;
    struct gt_error inner = {0};
    status = gt_uftrace_map_read(text, size, out, &inner);
    free(text);
    if (status < 0)
        return gt_error_set(err, status, "%s: %s", path, inner.text);
    return 0;
}

/* The recording's own map: what was set aside, or the current one at the first time. */
static int read_maps(struct work *w, struct gt_error *err)
{
    g_autofree char *name = g_strdup_printf("%s/sid-%s.map", w->dir.path, w->sid);
    g_autofree char *aside = g_strconcat(name, RECORDED_ENDING, NULL);
    int status = read_map(name, &w->current, err);
    if (status < 0)
        return status;
    if (!g_file_test(aside, G_FILE_TEST_EXISTS)) {
        char *text;
        size_t size;
        status = gt_file_read(name, MAP_LIMIT, &text, &size, err);
        if (status == 0) {
            status = gt_file_replace(aside, text, size, err);
            free(text);
        }
    }
    return status < 0 ? status : read_map(aside, &w->recorded, err);
}

/* True where the file is that module's symbols. */
static bool read_symtab(const char *path, const char *module, struct gt_uftrace_symtab *out)
{
    char *text;
    size_t size;
    if (gt_file_read(path, SYM_LIMIT, &text, &size, NULL) < 0)
        return false;
    int status = gt_uftrace_sym_read(text, size, out, NULL);
    free(text);
    if (status < 0)
        return false;
    if (strcmp(out->path, module) == 0)
        return true;
    gt_uftrace_symtab_free(out);
    *out = (struct gt_uftrace_symtab){0};
    return false;
}

/* BASE.sym or BASE-XXXX.sym, whichever is the module's; none is no error: there are no names then.
 */
static void find_symtab(const struct work *w, const char *module, struct gt_uftrace_symtab *out)
{
    g_autofree char *base = g_path_get_basename(module);
    GDir *list = g_dir_open(w->dir.path, 0, NULL);
    bool found = false;
    for (const char *name; list && !found && (name = g_dir_read_name(list));) {
        if (!g_str_has_prefix(name, base) || !g_str_has_suffix(name, ".sym"))
            continue;
        g_autofree char *path = g_build_filename(w->dir.path, name, NULL);
        found = read_symtab(path, module, out);
    }
    if (list)
        g_dir_close(list);
}

/* ---- modules ------------------------------------------------------------------------------- */

static int compare_addr(const void *a, const void *b)
{
    const struct gt_uftrace_symbol *x = a, *y = b;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static const struct gt_source_function *find_function(const struct gt_source_part *p, uint64_t addr)
{
    size_t lo = 0, hi = p->n;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (p->function[middle].addr <= addr)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo && addr - p->function[lo - 1].addr < p->function[lo - 1].size ? &p->function[lo - 1]
                                                                            : NULL;
}

/* A function that was called there and has no name in the file. One whose size is a guess ends
 * where another was called. */
static bool is_nameless(const struct gt_source_part *part, uint64_t addr)
{
    const struct gt_source_function *f = find_function(part, addr);
    return !f || (f->guessed && f->addr != addr);
}

/* Recorded symbols that lie in the place, but are none of its own functions. */
static void add_recorded(const struct work *w, const struct gt_place *p, GArray *out,
                         GPtrArray *names)
{
    g_autofree char *base = g_path_get_basename(p->part->path);
    for (size_t i = 0; i < w->recorded.n; i++) {
        const struct gt_uftrace_mapping *line = &w->recorded.line[i];
        for (size_t k = 0; k < w->tab[i].n; k++) {
            const struct gt_uftrace_symbol *sym = &w->tab[i].sym[k];
            uint64_t addr = line->start + sym->addr;
            uint64_t linked = addr - p->start + p->lo;
            if (addr < p->start || addr >= p->end || addr >= line->end ||
                !is_nameless(p->part, linked))
                continue;
            struct gt_uftrace_symbol kept = {addr - p->start, 0, sym->name, sym->type};
            if (g_str_has_prefix(sym->name, "0x")) {
                char *name = g_strdup_printf("%s+0x%" PRIx64, base, linked - p->part->lo);
                g_ptr_array_add(names, name);
                kept.name = name;
            }
            g_array_append_val(out, kept);
        }
    }
}

static void add_own(const struct work *w, const struct gt_place *p, GArray *out, GPtrArray *names)
{
    g_autofree char *base = g_path_get_basename(p->part->path);
    for (size_t i = 0; i < p->part->n; i++) {
        const struct gt_source_function *from = &p->part->function[i];
        if (from->addr < p->lo || from->addr >= p->hi)
            continue;
        struct gt_uftrace_symbol to = {from->addr - p->lo, from->size, from->name, from->type};
        if (w->prefix && !from->unnamed) {
            char *name = g_strconcat(base, ":", from->name, NULL);
            g_ptr_array_add(names, name);
            to.name = name;
        }
        g_array_append_val(out, to);
    }
}

static int put_place_symbols(struct work *w, size_t index, struct gt_error *err)
{
    const struct gt_place *p = &w->places->place[index];
    const struct module *m = &g_array_index(w->modules, struct module, index);
    const struct gt_uftrace_module module = {m->path, m->build_id};
    GArray *sym = g_array_new(FALSE, FALSE, sizeof(struct gt_uftrace_symbol));
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    add_own(w, p, sym, names);
    add_recorded(w, p, sym, names);
    g_array_sort(sym, compare_addr);
    int status = gt_uftrace_dir_put_symbols(
        &w->dir, &module, (const struct gt_uftrace_symbol *)(const void *)sym->data, sym->len, err);
    if (status == 0)
        status = gt_source_lines_put(&w->dir, &module, p, err);
    g_array_free(sym, TRUE);
    g_ptr_array_free(names, TRUE);
    return status;
}

/* Code that is there twice gets a second name, for a module is one line of the map. */
static void add_place(struct work *w, size_t index)
{
    const struct gt_place *p = &w->places->place[index];
    bool again = false;
    for (size_t i = 0; i < index; i++)
        again = again || strcmp(w->places->place[i].part->path, p->part->path) == 0;
    g_autofree char *path = NULL;
    if (!again)
        path = g_strdup(p->part->path);
    else if (p->found)
        path = g_strdup_printf("%s@0x%" PRIx64, p->part->path, p->start);
    else
        path = g_strdup_printf("%s+0x%" PRIx64, p->part->path, p->offset);
    add_module(w, p->start, p->end, path, p->source->build_id);
}

/* Lines that earlier calls put there, of files that are not given now. */
static void keep_earlier(struct work *w)
{
    for (size_t i = 0; i < w->current.n; i++) {
        const struct gt_uftrace_mapping *line = &w->current.line[i];
        bool drop = false;
        for (size_t k = 0; k < w->recorded.n; k++)
            drop = drop || is_part_of(line->path, w->recorded.line[k].path);
        for (size_t k = 0; k < w->places->n; k++)
            drop = drop || is_part_of(line->path, w->places->place[k].source->file);
        if (!drop)
            add_module(w, line->start, line->end, line->path, line->build_id);
    }
}

static int check_overlap(const struct work *w, struct gt_error *err)
{
    const struct module *m = (const struct module *)(const void *)w->modules->data;
    for (guint i = 0; i < w->modules->len; i++)
        for (guint k = i + 1; k < w->modules->len; k++)
            if (m[i].start < m[k].end && m[k].start < m[i].end)
                return gt_error_set(err, GT_E_EXISTS,
                                    "%s (0x%" PRIx64 "-0x%" PRIx64 ") and %s (0x%" PRIx64
                                    "-0x%" PRIx64 ") overlap: one of the offsets is wrong",
                                    m[i].path, m[i].start, m[i].end, m[k].path, m[k].start,
                                    m[k].end);
    return 0;
}

/* ---- what is left of the recorded lines ---------------------------------------------------- */

static int put_piece(struct work *w, size_t index, uint64_t start, uint64_t end,
                     struct gt_error *err)
{
    const struct gt_uftrace_mapping *line = &w->recorded.line[index];
    uint64_t offset = start - line->start;
    if (offset == 0) { /* its symbol file serves as it is */
        add_module(w, start, end, line->path, line->build_id);
        return 0;
    }
    const struct gt_uftrace_symtab *tab = &w->tab[index];
    size_t first = 0, last;
    while (first < tab->n && tab->sym[first].addr < offset)
        first++;
    for (last = first; last < tab->n && tab->sym[last].addr < end - line->start; last++)
        ;
    if (first == last) /* nothing was ever called there */
        return 0;
    g_autofree struct gt_uftrace_symbol *sym = g_new(struct gt_uftrace_symbol, last - first);
    for (size_t i = first; i < last; i++) {
        sym[i - first] = tab->sym[i];
        sym[i - first].addr -= offset;
    }
    g_autofree char *path = g_strdup_printf("%s+0x%" PRIx64, line->path, offset);
    add_module(w, start, end, path, NULL);
    const struct gt_uftrace_module module = {path, NULL};
    return gt_uftrace_dir_put_symbols(&w->dir, &module, sym, last - first, err);
}

/* Walks the line from its start: the next cut is the lowest module that reaches beyond `at`. */
static int put_pieces(struct work *w, size_t index, guint n_cuts, struct gt_error *err)
{
    const struct gt_uftrace_mapping *line = &w->recorded.line[index];
    int status = 0;
    for (uint64_t at = line->start; at < line->end && status == 0;) {
        uint64_t stop = line->end, next = line->end;
        for (guint i = 0; i < n_cuts; i++) {
            const struct module *m = &g_array_index(w->modules, struct module, i);
            if (m->end <= at || m->start >= stop)
                continue;
            stop = m->start > at ? m->start : at;
            next = m->end;
        }
        if (stop > at)
            status = put_piece(w, index, at, stop, err);
        at = stop == line->end ? line->end : next;
    }
    return status;
}

static int put_map(struct work *w, struct gt_error *err)
{
    g_autofree struct gt_uftrace_mapping *map =
        g_new0(struct gt_uftrace_mapping, w->modules->len + 1);
    for (guint i = 0; i < w->modules->len; i++) {
        const struct module *m = &g_array_index(w->modules, struct module, i);
        map[i] = (struct gt_uftrace_mapping){m->start, m->end, m->path, m->build_id};
    }
    return gt_uftrace_dir_put_map(&w->dir, w->sid, map, w->modules->len, err);
}

/* ---- all of it ----------------------------------------------------------------------------- */

static int symbolize_map(struct work *w, struct gt_error *err)
{
    int status = read_maps(w, err);
    if (status < 0)
        return status;
    w->tab = g_new0(struct gt_uftrace_symtab, w->recorded.n + 1);
    for (size_t i = 0; i < w->recorded.n; i++)
        find_symtab(w, w->recorded.line[i].path, &w->tab[i]);
    for (size_t i = 0; i < w->places->n; i++)
        add_place(w, i);
    keep_earlier(w);
    guint n_cuts = w->modules->len;
    status = check_overlap(w, err);
    for (size_t i = 0; i < w->places->n && status == 0; i++)
        status = put_place_symbols(w, i, err);
    for (size_t i = 0; i < w->recorded.n && status == 0; i++)
        status = put_pieces(w, i, n_cuts, err);
    return status < 0 ? status : put_map(w, err);
}

static void clear_work(struct work *w)
{
    for (size_t i = 0; w->tab && i < w->recorded.n; i++)
        gt_uftrace_symtab_free(&w->tab[i]);
    g_free(w->tab);
    gt_uftrace_map_free(&w->recorded);
    gt_uftrace_map_free(&w->current);
    g_array_free(w->modules, TRUE);
    g_free(w->sid);
}

/* The sid of "sid-SID.map", or NULL. */
static char *sid_of(const char *name)
{
    if (!g_str_has_prefix(name, "sid-") || !g_str_has_suffix(name, ".map"))
        return NULL;
    return g_strndup(name + 4, strlen(name) - 8);
}

int gt_symbolize(const char *dir, const struct gt_places *places, bool prefix, struct gt_error *err)
{
    struct gt_uftrace_dir d;
    int status = gt_uftrace_dir_open(&d, dir, err);
    GDir *list = status < 0 ? NULL : g_dir_open(d.path, 0, NULL);
    size_t maps = 0;
    for (const char *name; list && status == 0 && (name = g_dir_read_name(list));) {
        char *sid = sid_of(name);
        if (!sid)
            continue;
        struct work w = {.dir = d, .sid = sid, .places = places, .prefix = prefix};
        w.modules = g_array_new(FALSE, FALSE, sizeof(struct module));
        g_array_set_clear_func(w.modules, clear_module);
        status = symbolize_map(&w, err);
        clear_work(&w);
        maps++;
    }
    if (list)
        g_dir_close(list);
    if (status == 0 && maps == 0)
        return gt_error_set(err, GT_E_NOT_FOUND, "%s: no recording (no sid-*.map)", dir);
    return status;
}
