/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a call that arrives at a block may be, and calls that call nothing, by the bytes of the
 * code. */
#ifndef GT_CALLS_RECORDER_TRANSLATE_ARRIVAL_H
#define GT_CALLS_RECORDER_TRANSLATE_ARRIVAL_H

#include "calls/recorder/translate/code.h"
#include "track/track.h"

/* The enum gt_track_arrival of the piece [first, end) of the block; the description has its
 * function. */
unsigned gt_translate_arrival_at(const struct gt_translate_block *t, size_t first, size_t end,
                                 const struct gt_code *code);

/* True for a call a little forward over a trap for the CPU's speculation, as far as the call's page
 * shows it: gt_code_is_over_trap. */
bool gt_translate_call_is_over_trap(const struct gt_arch *arch,
                                    const struct gt_translate_decoded *call);

/* True where that call, of the function's code, needs no look at what it leads to: all lies on one
 * page, and the return address is dropped at once, or another such call follows. */
bool gt_translate_call_is_nothing(const struct gt_arch *arch,
                                  const struct gt_translate_decoded *call,
                                  const struct gt_track_func *fn);

/* The index of the first instruction of [first, n) that is of a known function, where that of
 * `first` is not; n: none is. */
size_t gt_translate_runs_on_until(const struct gt_translate_block *t, size_t first, size_t n);

#endif
