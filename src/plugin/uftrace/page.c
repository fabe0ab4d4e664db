/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of the guest's code, by place. */
#include "plugin/uftrace/uftrace.h"

struct gt_place *gt_place_at(uint64_t pc)
{
    struct gt_page *page = gt_pages_at(&gt_rec.pages, pc, sizeof *page);
    return &page->place[pc % GT_PAGE / GT_PLACE];
}
