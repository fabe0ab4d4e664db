/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Merges overlapping places of modules: see overlap.h. */
#include "names/placement/overlap.h"

#include <inttypes.h>
#include <string.h>

#define NAMED 3 /* modules in the path of a shared place; of others it says how many */

struct gt_overlap {
    GArray *places; /* struct gt_place */
    struct gt_source_part part;
    GPtrArray *names; /* that were made */
};

/* A function at its address in the guest. */
struct resident {
    struct gt_source_function f;
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

/* Those of n residents, all of one address, that may have run: those that were seen; if none was,
 * all. */
static void add_function(struct gt_overlap *t, const struct resident *r, guint n, uint64_t end)
{
    GString *names = g_string_new(NULL);
    struct gt_source_function f = r->f;
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

static void add_functions(struct gt_overlap *t, uint64_t end)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(struct resident));
    for (guint i = 0; i < t->places->len; i++)
        add_residents(all, &g_array_index(t->places, struct gt_place, i));
    g_array_sort(all, compare_residents);
    t->part.function = g_new0(struct gt_source_function, all->len + 1);
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
static void make_path(struct gt_overlap *t)
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
    struct gt_overlap *t = g_new0(struct gt_overlap, 1);
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

void gt_places_share(GArray *places)
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

void gt_overlap_free(struct gt_place *place)
{
    struct gt_overlap *t = place->overlap;
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

char *gt_shared_place_text(const struct gt_place *place)
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
