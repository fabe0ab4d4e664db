/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page size of the project: 4 KiB, the page of x86 hosts and the smallest page of every guest.
 */
#ifndef GT_BASE_PAGE_H
#define GT_BASE_PAGE_H

#include <stdint.h>

enum { GT_PAGE_BITS = 12 };
#define GT_PAGE (UINT64_C(1) << GT_PAGE_BITS)

/* The address at which the page of an address begins. */
static inline uint64_t gt_base_page_begin(uint64_t addr)
{
    return addr & ~(GT_PAGE - 1);
}

#endif
