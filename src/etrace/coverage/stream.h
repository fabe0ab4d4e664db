/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts by address from an etrace stream. */
#ifndef GT_ETRACE_COVERAGE_STREAM_H
#define GT_ETRACE_COVERAGE_STREAM_H

#include "base/error.h"
#include "etrace/coverage/count.h"
#include "etrace/format/etrace.h"
#include "recording/input.h"

struct gt_coverage_stream {
    bool has_exec; /* the stream has entries, so counts of blocks are ignored */
    bool has_arch;
    uint16_t machine; /* ELF e_machine of the guest, if has_arch */
};

/* True if the event is the count of a block: its name is 0xSTART-0xEND. */
bool gt_coverage_is_count(const struct gt_etrace_event *e, uint64_t *start, uint64_t *end);

/* Counts the code that the stream recorded: its EXEC entries or, if it has none, the last totals of
 * the counters of blocks (events of the device "coverage" whose names are 0xSTART-0xEND). `notices`
 * and `in` as in etrace/dump/walk.h. Errors of gt_etrace_walk; the packets before an error are
 * counted. */
int gt_coverage_read(const struct gt_error_notices *notices, struct gt_recording_input *in,
                     struct gt_coverage *c, struct gt_coverage_stream *out, struct gt_error *err);

#endif
