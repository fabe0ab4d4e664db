/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of rules: many functions have the same ones. */
#include "filter/lists.h"

#include <stdlib.h>
#include <string.h>

enum { TRIED = 16 }; /* newest lists that are compared */

struct gt_filter_list {
    struct gt_filter_list *next;
    size_t n;
    const struct gt_filter_rule *rule[];
};

struct gt_filter_lists *gt_filter_lists_new(void)
{
    struct gt_filter_lists *l = calloc(1, sizeof *l);
    if (l)
        pthread_mutex_init(&l->lock, NULL);
    return l;
}

void gt_filter_lists_free(struct gt_filter_lists *l)
{
    if (!l)
        return;
    for (struct gt_filter_list *at = l->first, *next; at; at = next) {
        next = at->next;
        free(at);
    }
    pthread_mutex_destroy(&l->lock);
    free(l);
}

static const struct gt_filter_list *find(const struct gt_filter_lists *l,
                                         struct gt_filter_rule *const *rule, size_t n)
{
    const struct gt_filter_list *at = l->first;
    for (int i = 0; at && i < TRIED; i++, at = at->next)
        if (at->n == n && memcmp(at->rule, rule, n * sizeof *rule) == 0)
            return at;
    return NULL;
}

const struct gt_filter_rule *const *
gt_filter_lists_add(struct gt_filter_lists *l, struct gt_filter_rule *const *rule, size_t n)
{
    pthread_mutex_lock(&l->lock);
    const struct gt_filter_list *there = find(l, rule, n);
    struct gt_filter_list *list = NULL;
    if (!there)
        list = calloc(1, sizeof *list + (n + 1) * sizeof *rule);
    if (list) {
        list->n = n;
        memcpy(list->rule, rule, n * sizeof *rule);
        list->next = l->first;
        l->first = list;
        there = list;
    }
    pthread_mutex_unlock(&l->lock);
    return there ? there->rule : NULL;
}
