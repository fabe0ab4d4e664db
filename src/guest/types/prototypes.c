/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prototypes of one file: see prototypes.h. */
#include "guest/types/prototypes.h"

#include "base/array.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

struct gt_type_prototypes *gt_type_prototypes_new(const struct gt_types *base)
{
    struct gt_type_prototypes *p = calloc(1, sizeof *p);

    if (p)
        p->types = gt_types_new(base);
    if (p && !p->types) {
        free(p);
        p = NULL;
    }
    return p;
}

void gt_type_prototypes_free(struct gt_type_prototypes *p)
{
    if (!p)
        return;
    gt_types_free(p->types);
    free(p->item);
    free(p->where);
    free(p->by_name);
    free(p);
}

void gt_type_prototypes_add(struct gt_type_prototypes *p, const struct gt_type_prototype *item,
                            const struct gt_type_param_where *where, size_t n_params)
{
    if (gt_types_status(p->types) != GT_OK)
        return;
    size_t n_where = p->n_where + (where ? n_params : 0);
    if (p->n == GT_TYPE_PARTS_MAX || n_where > GT_TYPE_PARTS_MAX ||
        !GT_ARRAY_GROW(&p->item, &p->room, p->n + 1) ||
        !GT_ARRAY_GROW(&p->where, &p->where_room, n_where)) {
        gt_types_fail(p->types, GT_E_NOMEM);
        return;
    }
    p->item[p->n] = *item;
    p->item[p->n].where = where && n_params ? (uint32_t)p->n_where + 1 : 0;
    p->n++;
    if (where && n_params) {
        memcpy(p->where + p->n_where, where, n_params * sizeof *where);
        p->n_where += n_params;
    }
}

static int by_address(const void *a, const void *b)
{
    const struct gt_type_prototype *x = a, *y = b;

    if (x->has_addr != y->has_addr)
        return x->has_addr ? 1 : -1;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int by_name(const void *a, const void *b, void *items)
{
    const struct gt_type_prototype *item = items;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = strcmp(item[x].name, item[y].name);

    return order ? order : x < y ? -1 : x > y;
}

/* Leaves one function an address: the first by name. */
static void drop_same(struct gt_type_prototypes *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n; i++)
        if (n == 0 || !p->item[i].has_addr || !p->item[n - 1].has_addr ||
            p->item[i].addr != p->item[n - 1].addr)
            p->item[n++] = p->item[i];
    p->n = n;
}

int gt_type_prototypes_finish(struct gt_type_prototypes *p)
{
    if (gt_types_status(p->types) != GT_OK)
        return gt_types_status(p->types);
    if (p->n)
        qsort(p->item, p->n, sizeof *p->item, by_address);
    drop_same(p);
    p->by_name = malloc((p->n + 1) * sizeof *p->by_name);
    if (!p->by_name)
        return GT_E_NOMEM;
    for (size_t i = 0; i < p->n; i++)
        p->by_name[i] = (uint32_t)i;
    if (p->n)
        qsort_r(p->by_name, p->n, sizeof *p->by_name, by_name, p->item);
    return GT_OK;
}

const struct gt_type_prototype *gt_type_prototypes_at(const struct gt_type_prototypes *p,
                                                      uint64_t addr)
{
    size_t i = GT_SEARCH_BELOW(p->item, p->n, addr, addr);

    while (i < p->n && p->item[i].addr == addr && !p->item[i].has_addr)
        i++; /* those without an address stand at 0 */
    return i < p->n && p->item[i].addr == addr ? &p->item[i] : NULL;
}

const struct gt_type_prototype *gt_type_prototypes_named(const struct gt_type_prototypes *p,
                                                         const char *name)
{
    size_t lo = 0, hi = p->n;

    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (strcmp(p->item[p->by_name[middle]].name, name) < 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < p->n && !strcmp(p->item[p->by_name[lo]].name, name) ? &p->item[p->by_name[lo]]
                                                                    : NULL;
}

const struct gt_type_param_where *gt_type_prototype_where(const struct gt_type_prototypes *p,
                                                          const struct gt_type_prototype *item)
{
    return item->where ? &p->where[item->where - 1] : NULL;
}
