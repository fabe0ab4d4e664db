/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names and symbols for a recorded directory: see symbolize.h. */
#include "names/placement/symbolize.h"

#include "names/image/source_lines.h"
#include "names/placement/map_lines.h"
#include "recording/directory/dir.h"

#include <glib.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A session of the recording. */
struct work {
    char *sid;
    struct gt_uftrace_map recorded; /* the lines that the recording wrote */
    struct gt_uftrace_map current;
    struct gt_uftrace_symtab *tab; /* of each recorded line; n 0 where it has none */
    GArray *modules;               /* struct gt_place_map_line: first the places, in their order */
};

struct job {
    struct gt_uftrace_dir dir;
    const struct gt_places *places;
    bool prefix;
    GArray *works; /* struct work, by sid */
};

/* "PATH", or a further place or a part of it. */
static bool is_part_of(const char *name, const char *path)
{
    size_t len = strlen(path);
    return strncmp(name, path, len) == 0 && (name[len] == '\0' || strchr("+@/", name[len]));
}

/* ---- reading ------------------------------------------------------------------------------- */

/* The recording's own map: the one set aside, or the current one at the first time. */
static int read_maps(const struct job *job, struct work *w, struct gt_error *err)
{
    g_autofree char *name = g_strdup_printf("%s/sid-%s.map", job->dir.path, w->sid);
    g_autofree char *aside = g_strconcat(name, GT_RECORDED_ENDING, NULL);
    int status = gt_place_map_read(name, &w->current, err);
    if (status < 0)
        return status;
    if (!g_file_test(aside, G_FILE_TEST_EXISTS)) {
        char *text;
        size_t size;
        status = gt_file_read(name, GT_MAP_LIMIT, &text, &size, err);
        if (status == 0) {
            status = gt_file_replace(aside, text, size, err);
            free(text);
        }
    }
    if (status == 0)
        status = gt_place_map_read(aside, &w->recorded, err);
    w->tab = g_new0(struct gt_uftrace_symtab, w->recorded.n + 1);
    for (size_t i = 0; i < w->recorded.n; i++)
        gt_place_map_find_symbols(&job->dir, w->recorded.line[i].path, &w->tab[i]);
    return status;
}

/* ---- modules ------------------------------------------------------------------------------- */

/* Code that is there twice gets a second name, for a module is one line of the map. */
static void add_place(const struct gt_places *places, size_t index, GArray *modules)
{
    const struct gt_place *p = &places->place[index];
    bool again = false;
    for (size_t i = 0; i < index; i++)
        again = again || strcmp(places->place[i].part->path, p->part->path) == 0;
    g_autofree char *path = NULL;
    if (!again)
        path = g_strdup(p->part->path);
    else if (p->found)
        path = g_strdup_printf("%s@0x%" PRIx64, p->part->path, p->start);
    else
        path = g_strdup_printf("%s+0x%" PRIx64, p->part->path, p->offset);
    gt_place_map_lines_add(modules, p->start, p->end, path, p->source->build_id);
}

/* Lines that earlier calls put there, of files that are not given now. */
static void keep_earlier(const struct gt_places *places, struct work *w)
{
    for (size_t i = 0; i < w->current.n; i++) {
        const struct gt_uftrace_mapping *line = &w->current.line[i];
        bool drop = false;
        for (size_t k = 0; k < w->recorded.n; k++)
            drop = drop || is_part_of(line->path, w->recorded.line[k].path);
        for (size_t k = 0; k < places->n; k++)
            drop = drop || is_part_of(line->path, places->place[k].source->file);
        if (!drop)
            gt_place_map_lines_add(w->modules, line->start, line->end, line->path, line->build_id);
    }
}

/* Recorded symbols that lie in the place, but are none of its own functions. */
static void add_recorded(const struct work *w, const struct gt_place *p,
                         struct gt_place_symbols *out)
{
    for (size_t i = 0; i < w->recorded.n; i++) {
        const struct gt_uftrace_mapping *line = &w->recorded.line[i];
        for (size_t k = 0; k < w->tab[i].n; k++) {
            uint64_t addr = line->start + w->tab[i].sym[k].addr;
            if (addr >= p->start && addr < p->end && addr < line->end)
                gt_place_symbols_add(out, addr - p->start + p->lo, &w->tab[i].sym[k]);
        }
    }
}

/* A place has the same symbols in every session. */
static int put_symbols(const struct job *job, size_t index, struct gt_error *err)
{
    const struct gt_place *p = &job->places->place[index];
    const struct work *w = (const struct work *)(const void *)job->works->data;
    const struct gt_place_map_line *m = &g_array_index(w->modules, struct gt_place_map_line, index);
    struct gt_place_symbols *symbols = gt_place_symbols_new(p, job->prefix);
    for (guint i = 0; i < job->works->len; i++)
        add_recorded(&w[i], p, symbols);
    const struct gt_uftrace_module module = {m->path, m->build_id};
    int status = gt_place_symbols_put(symbols, &job->dir, &module, err);
    gt_place_symbols_free(symbols);
    return status;
}

static int check_overlap(const struct work *w, struct gt_error *err)
{
    const struct gt_place_map_line *m =
        (const struct gt_place_map_line *)(const void *)w->modules->data;
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

/* ---- all of it ----------------------------------------------------------------------------- */

static int prepare(const struct job *job, struct work *w, struct gt_error *err)
{
    w->modules = gt_place_map_lines_new();
    int status = read_maps(job, w, err);
    for (size_t i = 0; i < job->places->n && status == 0; i++)
        add_place(job->places, i, w->modules);
    if (status == 0)
        keep_earlier(job->places, w);
    return status < 0 ? status : check_overlap(w, err);
}

static int put_map(const struct job *job, struct work *w, struct gt_error *err)
{
    const guint n_cuts = w->modules->len;
    int status = 0;
    for (size_t i = 0; i < w->recorded.n && status == 0; i++)
        status = gt_place_map_lines_cut(w->modules, n_cuts, &w->recorded.line[i], &w->tab[i],
                                        &job->dir, err);
    return status < 0 ? status : gt_place_map_lines_put(w->modules, &job->dir, w->sid, "", err);
}

static void clear_work(void *data)
{
    struct work *w = data;
    for (size_t i = 0; w->tab && i < w->recorded.n; i++)
        gt_uftrace_symtab_free(&w->tab[i]);
    g_free(w->tab);
    gt_uftrace_map_free(&w->recorded);
    gt_uftrace_map_free(&w->current);
    if (w->modules)
        g_array_free(w->modules, TRUE);
    g_free(w->sid);
}

static gint by_sid(gconstpointer a, gconstpointer b)
{
    const struct work *x = a, *y = b;
    return strcmp(x->sid, y->sid);
}

/* A session for each sid-SID.map. */
static void find_works(struct job *job)
{
    GDir *list = g_dir_open(job->dir.path, 0, NULL);
    for (const char *name; list && (name = g_dir_read_name(list));) {
        struct work w = {0};
        if (!g_str_has_prefix(name, "sid-") || !g_str_has_suffix(name, ".map"))
            continue;
        w.sid = g_strndup(name + 4, strlen(name) - 8);
        g_array_append_val(job->works, w);
    }
    if (list)
        g_dir_close(list);
    g_array_sort(job->works, by_sid);
}

static int symbolize(const struct job *job, struct gt_error *err)
{
    struct work *w = (struct work *)(void *)job->works->data;
    int status = 0;
    for (guint i = 0; i < job->works->len && status == 0; i++)
        status = prepare(job, &w[i], err);
    for (size_t i = 0; i < job->places->n && status == 0; i++)
        status = put_symbols(job, i, err);
    for (guint i = 0; i < job->works->len && status == 0; i++)
        status = put_map(job, &w[i], err);
    return status;
}

int gt_place_symbolize(const char *dir, const struct gt_places *places, bool prefix,
                       struct gt_error *err)
{
    struct job job = {.places = places, .prefix = prefix};
    int status = gt_uftrace_dir_open(&job.dir, dir, err);
    if (status < 0)
        return status;
    job.works = g_array_new(FALSE, FALSE, sizeof(struct work));
    g_array_set_clear_func(job.works, clear_work);
    find_works(&job);
    status = job.works->len
                 ? symbolize(&job, err)
                 : gt_error_set(err, GT_E_NOT_FOUND, "%s: no recording (no sid-*.map)", dir);
    g_array_free(job.works, TRUE);
    return status;
}

struct gt_place_symbols {
    struct gt_place place;
    char *base;       /* the file's name */
    GArray *sym;      /* struct gt_uftrace_symbol */
    GPtrArray *names; /* those that were made here */
};

static int compare_addr(const void *a, const void *b)
{
    const struct gt_uftrace_symbol *x = a, *y = b;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* A function that was called there and has no name in the file. One whose size is a guess ends
 * where another was called. */
static bool is_nameless(const struct gt_image_source_part *part, uint64_t addr)
{
    const struct gt_image_source_function *f = gt_image_source_part_find(part, addr);
    return !f || (f->guessed && f->addr != addr);
}

static const char *keep(struct gt_place_symbols *s, char *name)
{
    g_ptr_array_add(s->names, name);
    return name;
}

struct gt_place_symbols *gt_place_symbols_new(const struct gt_place *place, bool prefix)
{
    struct gt_place_symbols *s = g_new0(struct gt_place_symbols, 1);
    s->place = *place;
    s->base = g_path_get_basename(place->part->path);
    s->sym = g_array_new(FALSE, FALSE, sizeof(struct gt_uftrace_symbol));
    s->names = g_ptr_array_new_with_free_func(g_free);
    for (size_t i = 0; i < place->part->n; i++) {
        const struct gt_image_source_function *from = &place->part->function[i];
        if (from->addr < place->lo || from->addr >= place->hi)
            continue;
        struct gt_uftrace_symbol to = {from->addr - place->lo, from->size, from->name, from->type};
        if (prefix && !from->unnamed)
            to.name = keep(s, g_strconcat(s->base, ":", from->name, NULL));
        g_array_append_val(s->sym, to);
    }
    return s;
}

void gt_place_symbols_add(struct gt_place_symbols *s, uint64_t linked,
                          const struct gt_uftrace_symbol *sym)
{
    if (linked < s->place.lo || linked >= s->place.hi || !is_nameless(s->place.part, linked))
        return;
    struct gt_uftrace_symbol to = {linked - s->place.lo, 0, NULL, sym ? sym->type : 't'};
    if (sym && !g_str_has_prefix(sym->name, "0x"))
        to.name = sym->name;
    else
        to.name = keep(s, g_strdup_printf("%s+0x%" PRIx64, s->base, linked - s->place.part->lo));
    g_array_append_val(s->sym, to);
}

int gt_place_symbols_put(struct gt_place_symbols *s, const struct gt_uftrace_dir *dir,
                         const struct gt_uftrace_module *module, struct gt_error *err)
{
    g_array_sort(s->sym, compare_addr);
    int status = gt_uftrace_dir_put_symbols(
        dir, module, (const struct gt_uftrace_symbol *)(const void *)s->sym->data, s->sym->len,
        err);
    return status < 0 ? status : gt_image_source_lines_put(dir, module, &s->place, err);
}

const char *gt_place_symbols_name(const struct gt_place_symbols *s, uint64_t linked)
{
    const char *name = NULL;
    for (guint i = 0; i < s->sym->len; i++) {
        const struct gt_uftrace_symbol *sym = &g_array_index(s->sym, struct gt_uftrace_symbol, i);
        if (sym->addr > linked - s->place.lo)
            break;
        name = sym->name;
    }
    return name;
}

void gt_place_symbols_free(struct gt_place_symbols *s)
{
    if (!s)
        return;
    g_array_free(s->sym, TRUE);
    g_ptr_array_free(s->names, TRUE);
    g_free(s->base);
    g_free(s);
}
