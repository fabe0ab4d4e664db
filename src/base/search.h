/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Binary search in arrays that are sorted by a uint64_t member. */
#ifndef GT_BASE_SEARCH_H
#define GT_BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/* As qsort's comparisons: below 0, 0, above 0. */
static inline int gt_base_search_compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Returns how many of the n elements, `size` bytes each, have a uint64_t below `value` at `offset`.
 *
 */
static inline size_t gt_base_search_below(const void *array, size_t n, size_t size, size_t offset,
                                          uint64_t value)
{
    const char *at = array;
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (*(const uint64_t *)(const void *)(at + middle * size + offset) < value)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* Number of elements whose `member` is below the value. */
#define GT_SEARCH_BELOW(array, n, member, value)                                                   \
    gt_base_search_below((array), (n), sizeof *(array),                                            \
                         offsetof(__typeof__(*(array)), member) +                                  \
                             0 * sizeof(char[sizeof(array)->member == 8 ? 1 : -1]),                \
                         (value))
/* Number of elements whose `member` is at most the value. */
#define GT_SEARCH_UP_TO(array, n, member, value)                                                   \
    ((value) == UINT64_MAX ? (n) : GT_SEARCH_BELOW(array, n, member, (value) + 1))

#endif
