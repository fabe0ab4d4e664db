/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to filter/: what rules with conditions, counts and actions do at one call or return. */
#ifndef GT_FILTER_OCCASION_H
#define GT_FILTER_OCCASION_H

#include "filter/state.h"

struct gt_filter_occasion {
    const struct gt_filter_state *s;
    const struct gt_filter_verdict *v; /* the function's; it has rules */
    uint32_t depth;                    /* of the call */
    uint64_t time, took;
    bool at_return;
};

/* Which of the function's rules apply now; each is counted. Returns the triggers among them, a bit
 * each (of GT_FILTER_TRIGGERS). At a return only the return's triggers. `merged` (not at a return)
 * becomes what all that apply say of the call. */
uint32_t gt_filter_occasion_meet(const struct gt_filter_occasion *o,
                                 struct gt_filter_verdict *merged);
/* True: those triggers have something to do here; `passes`: the call passes the filters. */
bool gt_filter_occasion_acts(const struct gt_filter_occasion *o, uint32_t fired, bool passes);
/* Does it. */
void gt_filter_occasion_perform(const struct gt_filter_occasion *o, uint32_t fired, bool passes);

#endif
