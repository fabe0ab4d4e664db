/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all tasks of a recording have in common: whether it is on, and how often triggers fired. */
#include "filter/rule.h"
#include "filter/state.h"

#include <sys/mman.h>

static size_t size_of(size_t rules)
{
    return sizeof(struct gt_filter_live) + rules * sizeof(((struct gt_filter_live *)0)->count[0]);
}

struct gt_filter_live *gt_filter_live_new(const struct gt_filter_set *set)
{
    struct gt_filter_live *live = mmap(NULL, size_of(set->n_rules), PROT_READ | PROT_WRITE,
                                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (live == MAP_FAILED)
        return NULL;
    live->n = set->n_rules;
    live->switched = !set->off;
    return live;
}

void gt_filter_live_free(struct gt_filter_live *live)
{
    if (live)
        munmap(live, size_of(live->n));
}

static void set_switch(struct gt_filter_live *live, bool on)
{
    uint32_t now = __atomic_load_n(&live->switched, __ATOMIC_SEQ_CST);
    while ((now & 1) != on && !__atomic_compare_exchange_n(&live->switched, &now, now + 1, false,
                                                           __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
}

/* Of two that switch on and finish at once, one sees what the other has done. */
void gt_filter_live_switch(struct gt_filter_live *live, bool on)
{
    set_switch(live, on && !__atomic_load_n(&live->finished, __ATOMIC_SEQ_CST));
    if (on && __atomic_load_n(&live->finished, __ATOMIC_SEQ_CST))
        set_switch(live, false);
}

void gt_filter_live_finish(struct gt_filter_live *live)
{
    __atomic_store_n(&live->finished, true, __ATOMIC_SEQ_CST);
    gt_filter_live_switch(live, false);
}
