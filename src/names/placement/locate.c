/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the code of sources ran: see locate.h. */
#include "names/placement/locate.h"

#include "base/page.h"
#include "names/placement/load_offset.h"
#include "recording/texts/code_found.h"
#include "recording/texts/files.h"

#include <glib.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * Merges the places of modules that were loaded at the same addresses one after the other.
 *
 * A kernel frees the code of a module's start when it has run, and all of a module that is
 * unloaded; the next module may be loaded there. A recording has one name for an address. So these
 * places are merged into one with the functions of all its modules: functions that begin at the
 * same address get a joined name, "a|b", without those that are known not to have run there.
 */

#define NAMED 3 /* modules in the path of a shared place; of others it says how many */

struct gt_place_overlap {
    GArray *places; /* struct gt_place */
    struct gt_image_source_part part;
    GPtrArray *names; /* that were made */
};

/* A function at its address in the guest. */
struct resident {
    struct gt_image_source_function f;
    bool seen;
};

/* ---- functions ----------------------------------------------------------------------------- */

static bool is_seen(const struct gt_place *p, uint64_t linked)
{
    for (size_t i = 0; i < p->n_seen; i++)
        if (p->seen[i] == linked)
            return true;
    return false;
}

static void add_residents(GArray *all, const struct gt_place *p)
{
    for (size_t i = 0; i < p->part->n; i++) {
        struct resident r = {p->part->function[i], is_seen(p, p->part->function[i].addr)};
        r.f.addr = p->start + (r.f.addr - p->lo);
        g_array_append_val(all, r);
    }
}

static gint compare_residents(gconstpointer a, gconstpointer b)
{
    const struct resident *x = a, *y = b;
    return x->f.addr < y->f.addr ? -1 : x->f.addr > y->f.addr;
}

/* Appends the name unless it is there. */
static void add_name(GString *names, const char *name)
{
    g_auto(GStrv) list = g_strsplit(names->str, "|", -1);
    if (g_strv_contains((const char *const *)list, name))
        return;
    g_string_append_printf(names, "%s%s", names->len ? "|" : "", name);
}

/* Residents among n, all of one address, that may have run: the ones that were seen; if none was,
 * all. */
static void add_function(struct gt_place_overlap *t, const struct resident *r, guint n,
                         uint64_t end)
{
    GString *names = g_string_new(NULL);
    struct gt_image_source_function f = r->f;
    bool any = false;
    for (guint i = 0; i < n; i++)
        any |= r[i].seen;
    for (guint i = 0; i < n; i++) {
        if (!any || r[i].seen)
            add_name(names, r[i].f.name);
        f.size = MAX(f.size, r[i].f.size);
    }
    f.size = MIN(f.size, end - f.addr);
    f.addr -= t->part.lo;
    f.name = g_string_free(names, FALSE);
    g_ptr_array_add(t->names, (void *)f.name);
    t->part.function[t->part.n++] = f;
}

static void add_functions(struct gt_place_overlap *t, uint64_t end)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(struct resident));
    for (guint i = 0; i < t->places->len; i++)
        add_residents(all, &g_array_index(t->places, struct gt_place, i));
    g_array_sort(all, compare_residents);
    t->part.function = g_new0(struct gt_image_source_function, all->len + 1);
    for (guint i = 0, next; i < all->len; i = next) {
        const struct resident *r = &g_array_index(all, struct resident, i);
        for (next = i + 1; next < all->len && r[next - i].f.addr == r->f.addr; next++)
            ;
        add_function(t, r, next - i, next < all->len ? r[next - i].f.addr : end);
    }
    g_array_free(all, TRUE);
}

/* ---- one place of several ------------------------------------------------------------------ */

/* The first one's path, and the file names of more. */
static void make_path(struct gt_place_overlap *t)
{
    GString *path = g_string_new(NULL);
    for (guint i = 0; i < t->places->len && i < NAMED; i++) {
        const char *full = g_array_index(t->places, struct gt_place, i).part->path;
        g_autofree char *base = g_path_get_basename(full);
        g_string_append_printf(path, "%s%s", i ? "+" : "", i ? base : full);
    }
    if (t->places->len > NAMED)
        g_string_append_printf(path, "+%u", t->places->len - NAMED);
    g_strlcpy(t->part.path, path->str, sizeof t->part.path);
    g_string_free(path, TRUE);
}

/* So the path is the same in whatever order the files were given. */
static gint compare_paths(gconstpointer a, gconstpointer b)
{
    return strcmp(((const struct gt_place *)a)->part->path,
                  ((const struct gt_place *)b)->part->path);
}

static struct gt_place join(GArray *group, uint64_t start, uint64_t end)
{
    struct gt_place_overlap *t = g_new0(struct gt_place_overlap, 1);
    g_array_sort(group, compare_paths);
    struct gt_place p = g_array_index(group, struct gt_place, 0);
    t->places = group;
    t->names = g_ptr_array_new_with_free_func(g_free);
    t->part.step = p.part->step;
    t->part.lo = p.start = start;
    make_path(t);
    add_functions(t, end);
    t->part.lo = 0;
    t->part.hi = end - p.start;
    p.part = &t->part;
    p.overlap = t;
    p.seen = NULL;
    p.n_seen = 0;
    p.further = false;
    p.lo = 0;
    p.hi = t->part.hi;
    p.end = end;
    p.offset = (uint64_t)((int64_t)(p.start << 16) >> 16);
    return p;
}

static gint compare_starts(gconstpointer a, gconstpointer b)
{
    const struct gt_place *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* Merges overlapping places of modules. `places` (struct gt_place) is sorted by source; afterwards
 * its places do not overlap and are in no particular order. */
static void places_share(GArray *places)
{
    GArray *sorted = g_array_new(FALSE, FALSE, sizeof(struct gt_place));
    g_array_append_vals(sorted, places->data, places->len);
    g_array_sort(sorted, compare_starts);
    g_array_set_size(places, 0);
    for (guint i = 0, next; i < sorted->len; i = next) {
        struct gt_place p = g_array_index(sorted, struct gt_place, i);
        uint64_t end = p.end;
        for (next = i + 1; next < sorted->len; next++) {
            const struct gt_place *other = &g_array_index(sorted, struct gt_place, next);
            if (other->start >= end)
                break;
            end = MAX(end, other->end);
        }
        if (next - i > 1) {
            GArray *group = g_array_new(FALSE, FALSE, sizeof(struct gt_place));
            g_array_append_vals(group, &g_array_index(sorted, struct gt_place, i), next - i);
            p = join(group, p.start, end);
        }
        g_array_append_val(places, p);
    }
    g_array_free(sorted, TRUE);
}

static void overlap_free(struct gt_place *place)
{
    struct gt_place_overlap *t = place->overlap;
    if (!t)
        return;
    for (guint i = 0; i < t->places->len; i++)
        g_free(g_array_index(t->places, struct gt_place, i).seen);
    g_array_free(t->places, TRUE);
    g_ptr_array_free(t->names, TRUE);
    g_free(t->part.function);
    g_free(t);
    place->overlap = NULL;
}

/* Returns "FILE, FILE: N functions at START-END, loaded at 0x..., 0x... one after the other". The
 * caller frees it (g_free). */
static char *shared_place_text(const struct gt_place *place)
{
    const GArray *of = place->overlap->places;
    GString *paths = g_string_new(NULL), *where = g_string_new(NULL);
    for (guint i = 0; i < of->len; i++) {
        const struct gt_place *p = &g_array_index(of, struct gt_place, i);
        g_string_append_printf(paths, "%s%s", i ? ", " : "", p->part->path);
        g_string_append_printf(where, "%s0x%" PRIx64, i ? ", " : "", p->offset);
    }
    char *text = g_strdup_printf("%s: %zu functions at 0x%" PRIx64 "-0x%" PRIx64
                                 ", loaded at %s one after the other",
                                 paths->str, place->part->n, place->start, place->end, where->str);
    g_string_free(paths, TRUE);
    g_string_free(where, TRUE);
    return text;
}

#define FURTHER_MAX 4

struct search {
    const struct gt_image_symbol_source *source;
    size_t n;
    struct gt_place_entries entries; /* that no place explains yet */
    struct gt_place_entries all;
    const struct gt_place_matches *found;
    GArray *places; /* struct gt_place */
    struct gt_error *why;
};

static int64_t signed48(uint64_t v)
{
    return (int64_t)(v << 16) >> 16;
}

static const struct gt_place *place_at(const struct search *s, guint i)
{
    return &g_array_index(s->places, struct gt_place, i);
}

static bool is_placed(const struct search *s, const struct gt_image_source_part *part)
{
    for (guint i = 0; i < s->places->len; i++)
        if (place_at(s, i)->part == part)
            return true;
    return false;
}

static const struct gt_place *in_the_way(const struct search *s, const struct gt_place *p)
{
    for (guint i = 0; i < s->places->len; i++)
        if (place_at(s, i)->start < p->end && p->start < place_at(s, i)->end)
            return place_at(s, i);
    return NULL;
}

/* ---- one place ----------------------------------------------------------------------------- */

struct gt_place gt_place_whole(const struct gt_image_symbol_source *source,
                               const struct gt_image_source_part *part, uint64_t offset)
{
    struct gt_place p = {.source = source, .part = part, .lo = part->lo, .hi = part->hi};
    p.offset = (uint64_t)signed48(offset);
    p.start = (p.lo + offset) & GT_UFTRACE_ADDR_MASK;
    p.end = p.start + (p.hi - p.lo);
    return p;
}

void gt_place_trim(struct gt_place *p, const struct gt_place_load_offset *v)
{
    const struct gt_image_source_part *part = p->part;
    size_t last = part->n;
    while (last > 0 && part->function[last - 1].addr > v->latest)
        last--;
    p->lo = MAX(part->lo, gt_base_page_begin(v->first));
    p->hi = v->latest + (last ? part->function[last - 1].size : 1);
    p->start = (p->lo + p->offset) & GT_UFTRACE_ADDR_MASK;
    p->end = p->start + (p->hi - p->lo);
    p->further = true;
}

static int add_place(struct search *s, struct gt_place *p, struct gt_error *err)
{
    const struct gt_place *other = in_the_way(s, p);
    if (other)
        return gt_error_set(err, GT_E_EXISTS,
                            "%s (0x%" PRIx64 "-0x%" PRIx64 ") and %s (0x%" PRIx64 "-0x%" PRIx64
                            ") overlap: one of the offsets is wrong",
                            p->part->path, p->start, p->end, other->part->path, other->start,
                            other->end);
    struct gt_place_load_offset v;
    gt_place_load_offset_score(&s->entries, p->part, p->offset, &v);
    p->hits = v.hits;
    p->entered = v.seen;
    gt_place_entries_remove(&s->entries, p->start, p->end);
    g_array_append_val(s->places, *p);
    return 0;
}

/* ---- the ways to know ---------------------------------------------------------------------- */

static int put_given(struct search *s, const struct gt_image_symbol_source *source,
                     const struct gt_image_source_part *part, struct gt_error *err)
{
    if (!part->has_offset)
        return 0;
    struct gt_place p = gt_place_whole(source, part, part->offset);
    return add_place(s, &p, err);
}

/* The places that the plugin recognised: the one where most was entered is the part's first. */
static int put_recognised(struct search *s, const struct gt_image_symbol_source *source,
                          const struct gt_image_source_part *part, struct gt_error *err)
{
    (void)err;
    struct gt_place_load_offset best = {0}, v;
    bool any = false;
    if (part->has_offset || gt_image_symbol_source_given(s->source, s->n, source->file))
        return 0;
    for (size_t i = 0; i < s->found->n; i++) {
        if (!gt_place_matches_is(s->found, i, part->path))
            continue;
        gt_place_load_offset_score(&s->entries, part, s->found->item[i].offset, &v);
        if (!any || v.hits > best.hits)
            best = v;
        any = true;
    }
    if (!any)
        return 0;
    struct gt_place p = gt_place_whole(source, part, best.offset);
    p.found = true;
    if (add_place(s, &p, &s->why[source - s->source]) < 0)
        return 0;
    for (size_t i = 0; i < s->found->n; i++) {
        if (!gt_place_matches_is(s->found, i, part->path))
            continue;
        gt_place_load_offset_score(&s->entries, part, s->found->item[i].offset, &v);
        p = gt_place_whole(source, part, v.offset);
        p.found = true;
        if (v.hits)
            gt_place_trim(&p, &v);
        if (v.hits)
            add_place(s, &p, NULL);
    }
    return 0;
}

/* A module may have been there where another one was, or the start of one; all are kept. */
static void put_module(struct search *s, const struct gt_image_symbol_source *source,
                       const struct gt_image_source_part *part, const struct gt_place_match *item)
{
    struct gt_place_load_offset v;
    struct gt_place p = gt_place_whole(source, part, item->offset);
    gt_place_load_offset_score(&s->all, part, item->offset, &v);
    for (guint i = 0; i < s->places->len; i++) {
        const struct gt_place *other = place_at(s, i);
        if (other->start < p.end && p.start < other->end && other->source->kind != GT_SOURCE_MODULE)
            return;
    }
    p.found = true;
    p.further = is_placed(s, part);
    p.hits = v.hits;
    p.entered = v.seen;
    p.seen = g_memdup2(item->seen, item->n_seen * sizeof *item->seen);
    p.n_seen = item->n_seen;
    gt_place_entries_remove(&s->entries, p.start, p.end);
    g_array_append_val(s->places, p);
}

static int put_recognised_module(struct search *s, const struct gt_image_symbol_source *source,
                                 const struct gt_image_source_part *part, struct gt_error *err)
{
    (void)err;
    if (part->has_offset || gt_image_symbol_source_given(s->source, s->n, source->file))
        return 0;
    for (size_t i = 0; i < s->found->n; i++)
        if (gt_place_matches_is(s->found, i, part->path))
            put_module(s, source, part, &s->found->item[i]);
    return 0;
}

static int put_linked(struct search *s, const struct gt_image_symbol_source *source,
                      const struct gt_image_source_part *part, struct gt_error *err)
{
    if (part->searched || is_placed(s, part) || source->kind == GT_SOURCE_KERNEL)
        return 0;
    int status = gt_image_symbol_source_fits(part->path, part->lo, part->hi, 0, err);
    struct gt_place p = gt_place_whole(source, part, 0);
    return status < 0 ? status : add_place(s, &p, err);
}

static int put_searched(struct search *s, const struct gt_image_symbol_source *source,
                        const struct gt_image_source_part *part, struct gt_error *err)
{
    struct gt_error *why = &s->why[source - s->source];
    struct gt_place_load_offset v;
    if (!part->searched || is_placed(s, part))
        return 0;
    int status = gt_place_load_offset_find(&s->entries, part, &v, why);
    if (status == GT_E_NOMEM)
        return gt_error_set(err, status, "%s", why->text);
    if (status < 0)
        return 0;
    struct gt_place p = gt_place_whole(source, part, v.offset);
    p.found = true;
    add_place(s, &p, why);
    return 0;
}

/* The modules in a copy of /proc/kallsyms, if it is of this very boot. */
static int put_loaded(struct search *s, const struct gt_image_symbol_source *source,
                      const struct gt_image_source_part *part, struct gt_error *err)
{
    (void)err;
    if (part->searched || source->kind != GT_SOURCE_KERNEL)
        return 0;
    for (guint i = 0; i < s->places->len; i++) {
        const struct gt_place *kernel = place_at(s, i);
        if (kernel->part != source->part || kernel->further || kernel->offset != 0)
            continue;
        struct gt_place p = gt_place_whole(source, part, 0);
        add_place(s, &p, NULL);
        return 0;
    }
    return 0;
}

static int put_further(struct search *s, const struct gt_image_symbol_source *source,
                       const struct gt_image_source_part *part, struct gt_error *err)
{
    struct gt_place_load_offset v;
    (void)err;
    if (source->kind == GT_SOURCE_MODULE || part != source->part || !is_placed(s, part) ||
        gt_image_symbol_source_given(s->source, s->n, source->file))
        return 0;
    for (int i = 0; i < FURTHER_MAX && gt_place_load_offset_find(&s->entries, part, &v, NULL) == 0;
         i++) {
        struct gt_place p = gt_place_whole(source, part, v.offset);
        p.found = true;
        gt_place_trim(&p, &v);
        if (add_place(s, &p, NULL) < 0)
            return 0;
    }
    return 0;
}

/* ---- all of it ----------------------------------------------------------------------------- */

typedef int put_part(struct search *s, const struct gt_image_symbol_source *source,
                     const struct gt_image_source_part *part, struct gt_error *err);

static int for_parts(struct search *s, enum gt_image_source_kind kind, put_part *put,
                     struct gt_error *err)
{
    int status = 0;
    for (size_t i = 0; i < s->n && status == 0; i++)
        for (size_t k = 0; k < s->source[i].n_parts && status == 0; k++)
            if (s->source[i].kind == kind)
                status = put(s, &s->source[i], &s->source[i].part[k], err);
    return status;
}

static int search(struct search *s, struct gt_error *err)
{
    static const struct {
        put_part *put;
        enum gt_image_source_kind kind;
    } steps[] = {
        {put_given, GT_SOURCE_ELF},         {put_given, GT_SOURCE_KERNEL},
        {put_given, GT_SOURCE_MODULE},      {put_recognised, GT_SOURCE_ELF},
        {put_recognised, GT_SOURCE_KERNEL}, {put_recognised_module, GT_SOURCE_MODULE},
        {put_linked, GT_SOURCE_ELF},        {put_searched, GT_SOURCE_KERNEL},
        {put_loaded, GT_SOURCE_KERNEL},     {put_searched, GT_SOURCE_ELF},
        {put_searched, GT_SOURCE_MODULE},   {put_further, GT_SOURCE_ELF},
        {put_further, GT_SOURCE_KERNEL},
    };
    int status = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(steps) && status == 0; i++)
        status = for_parts(s, steps[i].kind, steps[i].put, err);
    return status;
}

/* By source, by part, the first place before the further ones. */
static gint compare_places(gconstpointer a, gconstpointer b)
{
    const struct gt_place *x = a, *y = b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return x->further - y->further;
}

static void settle(struct search *s, struct gt_places *out)
{
    for (guint i = 0; i < s->places->len; i++)
        s->why[place_at(s, i)->source - s->source] = (struct gt_error){0};
    places_share(s->places);
    g_array_sort(s->places, compare_places);
    out->n = s->places->len;
    out->place = (struct gt_place *)(void *)g_array_free(s->places, FALSE);
}

static void drop(struct search *s)
{
    for (guint i = 0; i < s->places->len; i++)
        g_free(place_at(s, i)->seen);
    g_array_free(s->places, TRUE);
}

int gt_place_locate_entries(struct gt_place_entries *entries, const struct gt_place_matches *found,
                            const struct gt_image_symbol_source *source, size_t n,
                            struct gt_places *out, struct gt_error *why, struct gt_error *err)
{
    struct search s = {.source = source, .n = n, .why = why, .entries = *entries, .found = found};
    s.all = s.entries;
    s.all.addr = g_memdup2(s.entries.addr, s.entries.n * sizeof *s.entries.addr);
    s.places = g_array_new(FALSE, FALSE, sizeof(struct gt_place));
    int status = search(&s, err);
    *out = (struct gt_places){0};
    if (status == 0)
        settle(&s, out);
    else
        drop(&s);
    g_free(s.all.addr);
    gt_place_entries_free(&s.entries);
    *entries = (struct gt_place_entries){0};
    return status;
}

int gt_place_locate(const struct gt_recording_records *at,
                    const struct gt_image_symbol_source *source, size_t n, struct gt_places *out,
                    struct gt_error *why, struct gt_error *err)
{
    struct gt_place_entries entries;
    struct gt_place_matches found;
    *out = (struct gt_places){0};
    int status = gt_place_entries_read(at, &entries, err);
    if (status < 0)
        return status;
    gt_place_matches_read(at->dir, &found);
    status = gt_place_locate_entries(&entries, &found, source, n, out, why, err);
    gt_place_matches_free(&found);
    return status;
}

void gt_places_free(struct gt_places *p)
{
    for (size_t i = 0; i < p->n; i++) {
        overlap_free(&p->place[i]);
        g_free(p->place[i].seen);
    }
    g_free(p->place);
    *p = (struct gt_places){0};
}

static char *how_found(const struct gt_place *place)
{
    const int64_t offset = (int64_t)place->offset;
    const bool kaslr = place->source->kind == GT_SOURCE_KERNEL && place->start >> 47;
    if (!place->found)
        return g_strdup("");
    if (place->source->kind == GT_SOURCE_MODULE) /* linked for 0 */
        return g_strdup_printf(", loaded at 0x%" PRIx64, place->offset);
    return g_strdup_printf(", %s %s0x%" PRIx64,
                           place->further ? "also at offset"
                           : kaslr        ? "KASLR offset"
                                          : "offset",
                           offset < 0 ? "-" : "",
                           offset < 0 ? -(uint64_t)offset : (uint64_t)offset);
}

char *gt_place_text(const struct gt_place *place)
{
    if (place->overlap)
        return shared_place_text(place);
    g_autofree char *how = how_found(place);
    return g_strdup_printf("%s: %zu functions%s at 0x%" PRIx64 "-0x%" PRIx64 "%s",
                           place->part->path, place->further ? place->hits : place->part->n,
                           place->further ? " called" : "", place->start, place->end, how);
}

#define MAP_LIMIT   ((size_t)256 << 20)
#define FOUND_LIMIT ((size_t)16 << 20)

/* Reads a line. Lines of another form, and functions that the module has not, are left out. */
static bool parse(const char *line, const struct gt_recording_code_map *map,
                  struct gt_place_match *out)
{
    uint64_t module, offset, function;
    struct gt_text_cursor rest;
    if (!gt_recording_code_found_parse(line, &module, &offset, &rest) || module >= map->n_modules)
        return false;
    const struct gt_recording_code_module *m = &map->module[module];
    *out = (struct gt_place_match){.module = (size_t)module, .offset = offset};
    out->seen = g_new(uint64_t, rest.left / 2 + 1);
    while (gt_recording_code_found_next(&rest, &function))
        if (function < m->n)
            out->seen[out->n_seen++] = map->function[m->first + function].addr;
    return true;
}

void gt_place_matches_read(const char *dir, struct gt_place_matches *out)
{
    g_autofree char *map = g_build_filename(dir, GT_CODE_MAP_FILE, NULL);
    g_autofree char *found = g_build_filename(dir, GT_CODE_FOUND_FILE, NULL);
    gt_place_matches_read_files(map, found, out);
}

void gt_place_matches_read_files(const char *map, const char *found, struct gt_place_matches *out)
{
    char *text;
    size_t size;
    *out = (struct gt_place_matches){0};
    if (gt_file_read(map, MAP_LIMIT, &text, &size, NULL) < 0)
        return;
    int status = gt_recording_code_map_read(text, size, &out->map, NULL);
    free(text);
    if (status < 0 || gt_file_read(found, FOUND_LIMIT, &text, &size, NULL) < 0)
        return;
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    out->item = g_new(struct gt_place_match, g_strv_length(lines) + 1);
    for (char **line = lines; *line; line++)
        if (parse(*line, &out->map, &out->item[out->n]))
            out->n++;
    free(text);
}

bool gt_place_matches_is(const struct gt_place_matches *f, size_t item, const char *path)
{
    return strcmp(f->map.module[f->item[item].module].path, path) == 0;
}

void gt_place_matches_free(struct gt_place_matches *f)
{
    for (size_t i = 0; i < f->n; i++)
        g_free(f->item[i].seen);
    gt_recording_code_map_free(&f->map);
    g_free(f->item);
    *f = (struct gt_place_matches){0};
}
