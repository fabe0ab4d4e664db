/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays that grow: each time to twice what they need. */
#ifndef GT_BASE_ARRAY_H
#define GT_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Makes room for n elements of `size` bytes; *room is for how many there is room. False: no memory,
 * or more than can be; the array stays as it is. */
static inline bool gt_base_array_grow(void **array, size_t *room, size_t n, size_t size)
{
    if (n <= *room)
        return true;
    size_t want = n < 8 ? 16 : 2 * n, bytes;
    void *p = __builtin_mul_overflow(want, size, &bytes) ? NULL : realloc(*array, bytes);
    if (!p)
        return false;
    *array = p;
    *room = want;
    return true;
}

#define GT_ARRAY_GROW(array, room, n)                                                              \
    gt_base_array_grow((void **)(array), (room), (n), sizeof **(array))

/* The same; new elements are 0. */
static inline bool gt_base_array_grow_clear(void **array, size_t *room, size_t n, size_t size)
{
    size_t before = *room;
    if (!gt_base_array_grow(array, room, n, size))
        return false;
    __builtin_memset((char *)*array + before * size, 0, (*room - before) * size);
    return true;
}

#define GT_ARRAY_GROW_CLEAR(array, room, n)                                                        \
    gt_base_array_grow_clear((void **)(array), (room), (n), sizeof **(array))

#endif
