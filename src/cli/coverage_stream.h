/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From an etrace stream to counts by address. */
#ifndef GT_CLI_COVERAGE_STREAM_H
#define GT_CLI_COVERAGE_STREAM_H

#include "cli/coverage_count.h"

struct gt_coverage_stream {
    bool chained;  /* the stream says that its entries are incomplete */
    bool has_exec; /* it has entries: counts of blocks would say the same again */
    bool has_arch;
    uint16_t machine; /* ELF e_machine of the guest, where has_arch */
};

/* Counts what the whole stream says ran: its EXEC entries, and the counts of blocks (events of the
 * device "coverage" whose names are 0xSTART-0xEND; an event's count is its value less the previous
 * one), unless entries came before them: they tell the same. `path` as cli/etrace_input.h takes it.
 *
 * Errors of gt_etrace_input_open; GT_E_FORMAT, GT_E_TRUNC, GT_E_RANGE with the offset: what came
 * before it is counted. */
int gt_coverage_read(const char *path, struct gt_coverage *c, struct gt_coverage_stream *out,
                     struct gt_error *err);

#endif
