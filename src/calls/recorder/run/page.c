/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What translation has learned about the guest's code: see page.h. */
#include "calls/recorder/run/page.h"
#include "calls/recorder/recorder.h"

struct gt_granule *gt_granule_at(struct gt_uftrace_recorder *r, uint64_t pc)
{
    struct gt_page *page = gt_pages_at(&r->code.pages, pc, sizeof *page);
    return &page->granule[pc % GT_PAGE / GT_GRANULE];
}

bool gt_block_entry_is_known(struct gt_uftrace_recorder *r, uint64_t pc)
{
    const struct gt_granule *granule = gt_granule_at(r, pc);
    return (granule->by_predecessor | granule->call | granule->otherwise) & gt_granule_bit(pc);
}
