/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `guesttrace diff`, shared among its files:
 *   diff.c           the command; both logs are read in turn
 *   diff_source.c    a log as lines
 *   diff_sequence.c  a vCPU's lines in both
 *   diff_skip.c      binary logs: parts that are the same byte for byte
 *   diff_report.c    where a vCPU's lines part, in words
 */
#ifndef GT_CLI_DIFF_H
#define GT_CLI_DIFF_H

#include "cli/command.h"
#include "cli/diff_sequence.h"
#include "cli/diff_source.h"

struct gt_diff {
    const struct gt_command *self;
    const char *names[2];
    struct gt_diff_source side[2];
    struct gt_diff_feed { /* what a source is told to give its lines to */
        struct gt_diff *diff;
        int side;
    } feeds[2];
    GHashTable *by_vcpu;
    GPtrArray *sequences;
    struct gt_diff_sequence *newest;
    size_t context; /* lines */
    bool values;    /* of accesses are compared */
    bool differs;
    /* diff_skip.c */
    uint32_t same_codes; /* blocks up to this id are the same in both */
    unsigned names_seen;
    bool other_codes; /* something has one number and two meanings */
    GString *skipped; /* texts: the newest lines that were the same, not yet any sequence's */
};

struct gt_diff_sequence *gt_diff_sequence_of(struct gt_diff *d, int64_t vcpu);

/* Both logs are binary, or both are text, and what comes next is the same: lets it go. 1: it did;
 * 0: not; or an error. Nothing waits in any sequence. */
int gt_diff_skip(struct gt_diff *d, struct gt_error *err);
/* The newest lines of events that were let go so, for q->before. */
void gt_diff_skipped_lines(struct gt_diff *d, struct gt_diff_sequence *q);

/* Prints where q parts. */
void gt_diff_report(struct gt_diff *d, struct gt_diff_sequence *q, GString *out);

#endif
