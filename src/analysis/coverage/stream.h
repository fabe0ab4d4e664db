/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From an etrace stream to counts by address. */
#ifndef GT_ANALYSIS_COVERAGE_STREAM_H
#define GT_ANALYSIS_COVERAGE_STREAM_H

#include "analysis/coverage/count.h"
#include "analysis/stream/input.h"
#include "base/notice.h"

struct gt_coverage_stream {
    bool has_exec; /* it has entries: counts of blocks would say the same again */
    bool has_arch;
    uint16_t machine; /* ELF e_machine of the guest, where has_arch */
};

/* The event says how often a block ran: its name is 0xSTART-0xEND. */
bool gt_coverage_is_count(const struct gt_etrace_event *e, uint64_t *start, uint64_t *end);

/* Counts what the whole stream says ran: its EXEC entries; where there are none, the last totals of
 * the counters of blocks (events of the device "coverage" whose names are 0xSTART-0xEND).
 * `notices` and `in` as analysis/stream/walk.h takes them.
 *
 * Errors of gt_etrace_walk: what was whole is counted. */
int gt_coverage_read(const struct gt_notices *notices, struct gt_etrace_input *in,
                     struct gt_coverage *c, struct gt_coverage_stream *out, struct gt_error *err);

#endif
