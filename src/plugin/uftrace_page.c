/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of the guest's code, a page at a time. Nothing of it is ever forgotten, since the
 * same block may be translated again at any time. */
#include "plugin/uftrace.h"

static struct gt_page *find(uint64_t number)
{
    struct gt_page *page = g_hash_table_lookup(gt_rec.pages, (void *)(uintptr_t)number);
    if (!page) {
        page = g_new0(struct gt_page, 1);
        g_hash_table_insert(gt_rec.pages, (void *)(uintptr_t)number, page);
    }
    return page;
}

struct gt_place *gt_place_at(uint64_t pc)
{
    enum { RECENT = 64 };
    static struct {
        uint64_t number;
        struct gt_page *page;
    } recent[RECENT];
    uint64_t number = pc / GT_PAGE;
    unsigned i = (unsigned)(number % RECENT);
    if (!recent[i].page || recent[i].number != number) {
        recent[i].number = number;
        recent[i].page = find(number);
    }
    return &recent[i].page->place[pc % GT_PAGE / GT_PLACE];
}
