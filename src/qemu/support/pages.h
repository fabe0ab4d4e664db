/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a plugin knows of the guest's code, a page at a time. Pages stay until they are cleared,
 * since a block may be translated again at any time. Not thread-safe.
 */
#ifndef GT_QEMU_SUPPORT_PAGES_H
#define GT_QEMU_SUPPORT_PAGES_H

#include "base/page.h"

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Memory in small pieces that are freed together, one after the other in the order in which they
 * were taken. On a thread other than the first one malloc() asks the kernel for each 4 KiB.
 */

/* Zero: nothing was taken. Not thread-safe. */
struct gt_support_arena {
    struct gt_support_batch *first; /* the one in use */
    char *at;
    size_t left; /* bytes that remain at `at` */
};

/* Returns `size` bytes of 0, aligned for a uint64_t. NULL: no memory. */
void *gt_support_arena_take(struct gt_support_arena *b, size_t size);
/* Frees all pieces. */
void gt_support_arena_clear(struct gt_support_arena *b);

enum { GT_PAGES_RECENT = 512 };

/* Zero: no page. */
struct gt_support_pages {
    GHashTable *all;               /* number -> the page; NULL: none yet */
    struct gt_support_arena arena; /* of pages */
    struct {
        uint64_t number;
        void *page; /* NULL: none */
    } recent[GT_PAGES_RECENT];
};

/* Frees all pages. */
void gt_support_pages_clear(struct gt_support_pages *p);

/* Returns the page, created at its first use: `size` bytes of 0. All pages of a set have one size.
 */
void *gt_support_pages_find(struct gt_support_pages *p, uint64_t number, size_t size);

/* The same for the page of an address. */
static inline void *gt_support_pages_at(struct gt_support_pages *p, uint64_t addr, size_t size)
{
    uint64_t number = addr / GT_PAGE;
    unsigned i = (unsigned)(number % GT_PAGES_RECENT);
    if (!p->recent[i].page || p->recent[i].number != number) {
        p->recent[i].number = number;
        p->recent[i].page = gt_support_pages_find(p, number, size);
    }
    return p->recent[i].page;
}

#endif
