/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a plugin knows of the guest's code, a page at a time. Pages stay until they are cleared,
 * since a block may be translated again at any time. Not thread-safe.
 */
#ifndef GT_QEMU_SUPPORT_PAGES_H
#define GT_QEMU_SUPPORT_PAGES_H

#include "base/page.h"
#include "qemu/support/arena.h"

#include <glib.h>
#include <stdint.h>

enum { GT_PAGES_RECENT = 512 };

/* Zero: no page. */
struct gt_pages {
    GHashTable *all;       /* number -> the page; NULL: none yet */
    struct gt_arena arena; /* of pages */
    struct {
        uint64_t number;
        void *page; /* NULL: none */
    } recent[GT_PAGES_RECENT];
};

/* Frees all pages. */
void gt_pages_clear(struct gt_pages *p);

/* Returns the page, created at its first use: `size` bytes of 0. All pages of a set have one size.
 */
void *gt_pages_find(struct gt_pages *p, uint64_t number, size_t size);

/* The same for the page of an address. */
static inline void *gt_pages_at(struct gt_pages *p, uint64_t addr, size_t size)
{
    uint64_t number = addr / GT_PAGE;
    unsigned i = (unsigned)(number % GT_PAGES_RECENT);
    if (!p->recent[i].page || p->recent[i].number != number) {
        p->recent[i].number = number;
        p->recent[i].page = gt_pages_find(p, number, size);
    }
    return p->recent[i].page;
}

#endif
