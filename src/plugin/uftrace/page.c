/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What translation has learned about the guest's code: see page.h. */
#include "plugin/uftrace/page.h"
#include "plugin/uftrace/recorder.h"

struct gt_place *gt_place_at(struct gt_uftrace_recorder *r, uint64_t pc)
{
    struct gt_page *page = gt_pages_at(&r->code.pages, pc, sizeof *page);
    return &page->place[pc % GT_PAGE / GT_PLACE];
}

bool gt_block_entry_is_known(struct gt_uftrace_recorder *r, uint64_t pc)
{
    const struct gt_place *place = gt_place_at(r, pc);
    return (place->by_flow | place->call | place->otherwise) & gt_place_bit(pc);
}
