/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Self times in parts: see parts.h. */
#include "calls/profile/parts.h"

#include "base/fnv.h"

#include <stdlib.h>

static size_t slot_of(const struct gt_profile_parts *p, const struct gt_profile_part *x)
{
    uint64_t hash =
        gt_bytes_fnv(gt_bytes_fnv(gt_bytes_fnv(GT_FNV_BEGIN, x->begin), x->task), x->depth);
    return (size_t)(hash ^ hash >> 32) & (p->slots - 1);
}

static bool same(const struct gt_profile_part *a, const struct gt_profile_part *b)
{
    return a->begin == b->begin && a->task == b->task && a->depth == b->depth &&
           a->function == b->function;
}

static void put(struct gt_profile_parts *p, const struct gt_profile_part *x)
{
    size_t s = slot_of(p, x);
    while (p->slot[s].used && !same(&p->slot[s], x))
        s = (s + 1) & (p->slots - 1);
    if (p->slot[s].used) {
        p->slot[s].self += x->self;
        p->slot[s].slept += x->slept;
        p->slot[s].end = x->ended ? x->end : p->slot[s].end;
        p->slot[s].ended |= x->ended;
        return;
    }
    p->slot[s] = *x;
    p->n++;
}

static int grow(struct gt_profile_parts *p)
{
    struct gt_profile_parts larger = {.slots = p->slots ? 2 * p->slots : 256};
    larger.slot = calloc(larger.slots, sizeof *larger.slot);
    if (!larger.slot)
        return GT_E_NOMEM;
    for (size_t i = 0; i < p->slots; i++)
        if (p->slot[i].used)
            put(&larger, &p->slot[i]);
    free(p->slot);
    *p = larger;
    return 0;
}

static int add(struct gt_profile_parts *p, const struct gt_profile_part *x)
{
    int status = 2 * p->n >= p->slots ? grow(p) : 0;
    if (status == 0)
        put(p, x);
    return status;
}

int gt_profile_parts_add(struct gt_profile_parts *p, const struct gt_call *e)
{
    return add(p, &(struct gt_profile_part){.begin = e->begin,
                                            .end = e->time,
                                            .slept = e->slept,
                                            .self = e->self,
                                            .task = e->task,
                                            .depth = e->depth,
                                            .function = e->function,
                                            .used = true,
                                            .ended = e->kind == GT_CALL_EXIT});
}

int gt_profile_parts_merge(struct gt_profile_parts *p, const struct gt_profile_parts *from)
{
    int status = 0;
    for (size_t i = 0; status == 0 && i < from->slots; i++)
        if (from->slot[i].used)
            status = add(p, &from->slot[i]);
    return status;
}

void gt_profile_parts_each(const struct gt_profile_parts *p,
                           void (*part)(void *self, const struct gt_profile_part *part), void *self)
{
    for (size_t i = 0; i < p->slots; i++)
        if (p->slot[i].used)
            part(self, &p->slot[i]);
}

void gt_profile_parts_clear(struct gt_profile_parts *p)
{
    free(p->slot);
    *p = (struct gt_profile_parts){0};
}
