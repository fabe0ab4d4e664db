/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to calls/: what a set of filters has to do with each function of a recording. */
#ifndef GT_CALLS_READ_VERDICTS_H
#define GT_CALLS_READ_VERDICTS_H

#include "calls/read/calls.h"
#include "filter/filter.h"

#include <glib.h>

struct gt_image_demangler;

struct gt_calls_verdicts {
    const struct gt_calls *c;
    const struct gt_filter_set *set;
    struct gt_image_demangler *demangler;
    GPtrArray *verdict; /* struct gt_filter_verdict, by function; NULL: not met */
};

void gt_calls_verdicts_init(struct gt_calls_verdicts *v, const struct gt_calls *c,
                            const struct gt_filter_set *set);
void gt_calls_verdicts_finish(struct gt_calls_verdicts *v);
/* The function's verdict, which stays where it is. NULL: err says why. A function matches by its
 * mangled name, its demangled one, and that without its parameters. */
const struct gt_filter_verdict *gt_calls_verdicts_get(struct gt_calls_verdicts *v,
                                                      uint32_t function, struct gt_error *err);

#endif
