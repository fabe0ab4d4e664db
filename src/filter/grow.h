/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Growing arrays of a set of filters, while it is made. */
#ifndef GT_FILTER_GROW_H
#define GT_FILTER_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Makes room for n elements of `size` bytes. False: no memory; the array stays as it is. */
static inline bool gt_grow(void **array, size_t *room, size_t n, size_t size)
{
    if (n <= *room)
        return true;
    size_t want = n < 8 ? 8 : 2 * n;
    void *p = realloc(*array, want * size);
    if (!p)
        return false;
    *array = p;
    *room = want;
    return true;
}

#endif
