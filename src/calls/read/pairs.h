/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table from pairs of numbers to numbers: open addressing. */
#ifndef GT_CALLS_READ_PAIRS_H
#define GT_CALLS_READ_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define GT_PAIRS_NONE UINT32_MAX /* no value */

struct gt_calls_pair {
    uint64_t b;
    uint32_t a;
    uint32_t value; /* NONE: the place is free */
};

/* { 0 } is an empty one. */
struct gt_calls_pairs {
    struct gt_calls_pair *pair;
    size_t n, room; /* room: a power of two */
};

static inline size_t gt_calls_pairs_hash(uint32_t a, uint64_t b)
{
    uint64_t x = (b ^ (uint64_t)a << 40) * 0x9e3779b97f4a7c15u;
    return (size_t)((x ^ x >> 29) * 0xbf58476d1ce4e5b9u >> 20);
}

static inline struct gt_calls_pair *gt_calls_pairs_slot(const struct gt_calls_pairs *p, uint32_t a,
                                                        uint64_t b)
{
    size_t i = gt_calls_pairs_hash(a, b) & (p->room - 1);
    while (p->pair[i].value != GT_PAIRS_NONE && (p->pair[i].a != a || p->pair[i].b != b))
        i = (i + 1) & (p->room - 1);
    return &p->pair[i];
}

/* The value of a pair, or NONE. */
static inline uint32_t gt_calls_pairs_get(const struct gt_calls_pairs *p, uint32_t a, uint64_t b)
{
    return p->n ? gt_calls_pairs_slot(p, a, b)->value : GT_PAIRS_NONE;
}

static inline bool gt_calls_pairs_grow(struct gt_calls_pairs *p)
{
    struct gt_calls_pairs more = {NULL, p->n, p->room ? 2 * p->room : 64};
    more.pair = malloc(more.room * sizeof *more.pair);
    if (!more.pair)
        return false;
    for (size_t i = 0; i < more.room; i++)
        more.pair[i].value = GT_PAIRS_NONE;
    for (size_t i = 0; i < p->room; i++)
        if (p->pair[i].value != GT_PAIRS_NONE)
            *gt_calls_pairs_slot(&more, p->pair[i].a, p->pair[i].b) = p->pair[i];
    free(p->pair);
    *p = more;
    return true;
}

/* Adds a pair that is not there, or gives it another value. False: no memory. */
static inline bool gt_calls_pairs_put(struct gt_calls_pairs *p, uint32_t a, uint64_t b,
                                      uint32_t value)
{
    if (2 * p->n >= p->room && !gt_calls_pairs_grow(p))
        return false;
    struct gt_calls_pair *slot = gt_calls_pairs_slot(p, a, b);
    p->n += slot->value == GT_PAIRS_NONE;
    *slot = (struct gt_calls_pair){b, a, value};
    return true;
}

static inline void gt_calls_pairs_clear(struct gt_calls_pairs *p)
{
    free(p->pair);
    *p = (struct gt_calls_pairs){0};
}

#endif
