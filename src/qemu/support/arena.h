/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory in small pieces that are freed together, one after the other in the order in which they
 * were taken. On a thread other than the first one malloc() asks the kernel for each 4 KiB.
 */
#ifndef GT_QEMU_SUPPORT_ARENA_H
#define GT_QEMU_SUPPORT_ARENA_H

#include <stddef.h>

/* Zero: nothing was taken. Not thread-safe. */
struct gt_arena {
    struct gt_batch *first; /* the one in use */
    char *at;
    size_t left; /* bytes that remain at `at` */
};

/* Returns `size` bytes of 0, aligned for a uint64_t. NULL: no memory. */
void *gt_arena_take(struct gt_arena *b, size_t size);
/* Frees all pieces. */
void gt_arena_clear(struct gt_arena *b);

#endif
