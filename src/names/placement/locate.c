/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the code of sources ran: see locate.h. */
#include "names/placement/locate.h"
#include "base/page.h"

#include "names/placement/load_offset.h"
#include "names/placement/matches.h"
#include "names/placement/overlap.h"

#include <glib.h>
#include <inttypes.h>

#define FURTHER_MAX 4

struct search {
    const struct gt_symbol_source *source;
    size_t n;
    struct gt_entries entries; /* that no place explains yet */
    struct gt_entries all;
    const struct gt_matches *found;
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

static bool is_placed(const struct search *s, const struct gt_source_part *part)
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

struct gt_place gt_place_whole(const struct gt_symbol_source *source,
                               const struct gt_source_part *part, uint64_t offset)
{
    struct gt_place p = {.source = source, .part = part, .lo = part->lo, .hi = part->hi};
    p.offset = (uint64_t)signed48(offset);
    p.start = (p.lo + offset) & GT_UFTRACE_ADDR_MASK;
    p.end = p.start + (p.hi - p.lo);
    return p;
}

void gt_place_trim(struct gt_place *p, const struct gt_load_offset *v)
{
    const struct gt_source_part *part = p->part;
    size_t last = part->n;
    while (last > 0 && part->function[last - 1].addr > v->latest)
        last--;
    p->lo = MAX(part->lo, v->first & ~(GT_PAGE - 1));
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
    struct gt_load_offset v;
    gt_load_offset_score(&s->entries, p->part, p->offset, &v);
    p->hits = v.hits;
    p->entered = v.seen;
    gt_entries_remove(&s->entries, p->start, p->end);
    g_array_append_val(s->places, *p);
    return 0;
}

/* ---- the ways to know ---------------------------------------------------------------------- */

static int put_given(struct search *s, const struct gt_symbol_source *source,
                     const struct gt_source_part *part, struct gt_error *err)
{
    if (!part->has_offset)
        return 0;
    struct gt_place p = gt_place_whole(source, part, part->offset);
    return add_place(s, &p, err);
}

/* The places that the plugin recognised: the one where most was entered is the part's first. */
static int put_recognised(struct search *s, const struct gt_symbol_source *source,
                          const struct gt_source_part *part, struct gt_error *err)
{
    (void)err;
    struct gt_load_offset best = {0}, v;
    bool any = false;
    if (part->has_offset || gt_symbol_source_given(s->source, s->n, source->file))
        return 0;
    for (size_t i = 0; i < s->found->n; i++) {
        if (!gt_matches_is(s->found, i, part->path))
            continue;
        gt_load_offset_score(&s->entries, part, s->found->item[i].offset, &v);
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
        if (!gt_matches_is(s->found, i, part->path))
            continue;
        gt_load_offset_score(&s->entries, part, s->found->item[i].offset, &v);
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
static void put_module(struct search *s, const struct gt_symbol_source *source,
                       const struct gt_source_part *part, const struct gt_match *item)
{
    struct gt_load_offset v;
    struct gt_place p = gt_place_whole(source, part, item->offset);
    gt_load_offset_score(&s->all, part, item->offset, &v);
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
    gt_entries_remove(&s->entries, p.start, p.end);
    g_array_append_val(s->places, p);
}

static int put_recognised_module(struct search *s, const struct gt_symbol_source *source,
                                 const struct gt_source_part *part, struct gt_error *err)
{
    (void)err;
    if (part->has_offset || gt_symbol_source_given(s->source, s->n, source->file))
        return 0;
    for (size_t i = 0; i < s->found->n; i++)
        if (gt_matches_is(s->found, i, part->path))
            put_module(s, source, part, &s->found->item[i]);
    return 0;
}

static int put_linked(struct search *s, const struct gt_symbol_source *source,
                      const struct gt_source_part *part, struct gt_error *err)
{
    if (part->searched || is_placed(s, part) || source->kind == GT_SOURCE_KERNEL)
        return 0;
    int status = gt_symbol_source_fits(part->path, part->lo, part->hi, 0, err);
    struct gt_place p = gt_place_whole(source, part, 0);
    return status < 0 ? status : add_place(s, &p, err);
}

static int put_searched(struct search *s, const struct gt_symbol_source *source,
                        const struct gt_source_part *part, struct gt_error *err)
{
    struct gt_error *why = &s->why[source - s->source];
    struct gt_load_offset v;
    if (!part->searched || is_placed(s, part))
        return 0;
    int status = gt_load_offset_find(&s->entries, part, &v, why);
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
static int put_loaded(struct search *s, const struct gt_symbol_source *source,
                      const struct gt_source_part *part, struct gt_error *err)
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

static int put_further(struct search *s, const struct gt_symbol_source *source,
                       const struct gt_source_part *part, struct gt_error *err)
{
    struct gt_load_offset v;
    (void)err;
    if (source->kind == GT_SOURCE_MODULE || part != source->part || !is_placed(s, part) ||
        gt_symbol_source_given(s->source, s->n, source->file))
        return 0;
    for (int i = 0; i < FURTHER_MAX && gt_load_offset_find(&s->entries, part, &v, NULL) == 0; i++) {
        struct gt_place p = gt_place_whole(source, part, v.offset);
        p.found = true;
        gt_place_trim(&p, &v);
        if (add_place(s, &p, NULL) < 0)
            return 0;
    }
    return 0;
}

/* ---- all of it ----------------------------------------------------------------------------- */

typedef int put_part(struct search *s, const struct gt_symbol_source *source,
                     const struct gt_source_part *part, struct gt_error *err);

static int for_parts(struct search *s, enum gt_source_kind kind, put_part *put,
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
        enum gt_source_kind kind;
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
    gt_places_share(s->places);
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

int gt_locate_entries(struct gt_entries *entries, const struct gt_matches *found,
                      const struct gt_symbol_source *source, size_t n, struct gt_places *out,
                      struct gt_error *why, struct gt_error *err)
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
    gt_entries_free(&s.entries);
    *entries = (struct gt_entries){0};
    return status;
}

int gt_locate(const struct gt_records *at, const struct gt_symbol_source *source, size_t n,
              struct gt_places *out, struct gt_error *why, struct gt_error *err)
{
    struct gt_entries entries;
    struct gt_matches found;
    *out = (struct gt_places){0};
    int status = gt_entries_read(at, &entries, err);
    if (status < 0)
        return status;
    gt_matches_read(at->dir, &found);
    status = gt_locate_entries(&entries, &found, source, n, out, why, err);
    gt_matches_free(&found);
    return status;
}

void gt_places_free(struct gt_places *p)
{
    for (size_t i = 0; i < p->n; i++) {
        gt_overlap_free(&p->place[i]);
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
        return gt_shared_place_text(place);
    g_autofree char *how = how_found(place);
    return g_strdup_printf("%s: %zu functions%s at 0x%" PRIx64 "-0x%" PRIx64 "%s",
                           place->part->path, place->further ? place->hits : place->part->n,
                           place->further ? " called" : "", place->start, place->end, how);
}
