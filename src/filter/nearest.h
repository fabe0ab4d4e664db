/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names nearest to one that was not found, for its error message. */
#ifndef GT_FILTER_NEAREST_H
#define GT_FILTER_NEAREST_H

#include <stddef.h>

enum { GT_NEAREST = 3 };

/* { .wanted = NAME } is an empty list. */
struct gt_filter_nearest {
    const char *wanted;
    const char *name[GT_NEAREST]; /* nearest first */
    size_t distance[GT_NEAREST];  /* what they are sorted by */
    size_t n;
};

/* Considers a name, which must remain valid. A name that has nothing in common with the wanted one
 * is not kept; one that is there already neither. */
void gt_filter_nearest_offer(struct gt_filter_nearest *l, const char *name);
/* A pattern without what only expressions have: a name to be wanted. The caller frees it; NULL: no
 * memory. */
char *gt_filter_nearest_wanted(const char *pattern);
/* "; near to it: a, b, c", or "". The caller frees it; NULL: no memory. */
char *gt_filter_nearest_text(const struct gt_filter_nearest *l);

#endif
