/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the rules of a function. Patterns of one name are found by it, however many there are; the
 * others are tried one after the other. */
#include "base/array.h"
#include "base/fnv.h"
#include "filter/set.h"

#include <string.h>

static uint64_t hash(const char *name)
{
    uint64_t h = GT_FNV_BEGIN;
    for (; *name; name++)
        h = gt_fnv(h, (uint8_t)*name);
    return h;
}

static void link_rule(struct gt_filter_index *x, struct gt_filter_rule *r)
{
    struct gt_filter_rule **b = &x->bucket[hash(gt_pattern_exact(r->pattern)) & (x->n_buckets - 1)];
    r->next = *b;
    *b = r;
}

static bool grow(struct gt_filter_index *x)
{
    struct gt_filter_index larger = *x;
    larger.n_buckets = x->n_buckets ? 2 * x->n_buckets : 16;
    larger.bucket = calloc(larger.n_buckets, sizeof *larger.bucket);
    if (!larger.bucket)
        return false;
    for (size_t i = 0; i < x->n_buckets; i++)
        for (struct gt_filter_rule *r = x->bucket[i], *next; r; r = next) {
            next = r->next;
            link_rule(&larger, r);
        }
    free(x->bucket);
    *x = larger;
    return true;
}

bool gt_filter_index_add(struct gt_filter_index *x, struct gt_filter_rule *r)
{
    if (!gt_pattern_exact(r->pattern)) {
        if (!GT_ARRAY_GROW(&x->other, &x->room_other, x->n_other + 1))
            return false;
        x->other[x->n_other++] = r;
        return true;
    }
    if (x->n_named == x->n_buckets && !grow(x))
        return false;
    x->n_named++;
    link_rule(x, r);
    return true;
}

void gt_filter_index_finish(struct gt_filter_index *x)
{
    free(x->bucket);
    free(x->other);
}

static void find_name(const struct gt_filter_index *x, const char *name,
                      void (*found)(void *self, struct gt_filter_rule *r), void *self)
{
    if (!x->n_buckets)
        return;
    for (struct gt_filter_rule *r = x->bucket[hash(name) & (x->n_buckets - 1)]; r; r = r->next)
        if (strcmp(gt_pattern_exact(r->pattern), name) == 0)
            found(self, r);
}

void gt_filter_index_find(const struct gt_filter_index *x, const struct gt_filter_function *f,
                          void (*found)(void *self, struct gt_filter_rule *r), void *self)
{
    if (f->name)
        find_name(x, f->name, found, self);
    for (const char *const *also = f->also; also && *also; also++)
        find_name(x, *also, found, self);
    for (size_t i = 0; i < x->n_other; i++)
        if (gt_pattern_match(x->other[i]->pattern, f))
            found(self, x->other[i]);
}
