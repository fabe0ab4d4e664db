/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where two execlog logs part (`guesttrace diff`):
 *   compare.c   both logs are read in turn
 *   vcpus.c     which vCPU lines are of
 *   source.c    a log as lines
 *   sequence.c  a vCPU's lines in both
 *   lines.c     where lines end
 *   skip.c      parts that are the same byte for byte
 *   report.c    where a vCPU's lines part, in words
 *   resync.c    where they are the same again
 */
#ifndef GT_ANALYSIS_COMPARE_COMPARE_H
#define GT_ANALYSIS_COMPARE_COMPARE_H

#include "analysis/compare/sequence.h"
#include "analysis/compare/source.h"
#include "base/notice.h"

enum { GT_DIFF_AHEAD = 1000 }; /* lines that are looked at after those that differ */

struct gt_diff {
    const struct gt_notices *notices;
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
    /* skip.c */
    uint32_t same_codes; /* blocks up to this id are the same in both */
    unsigned names_seen;
    bool other_codes; /* something has one number and two meanings */
    bool abreast;     /* nothing waits */
};

/* Of the logs with these names ("-": standard input), showing so many lines of context. `names` and
 * *notices must outlive *d, which needs gt_diff_clear. */
void gt_diff_init(struct gt_diff *d, const char *const names[2], size_t context,
                  const struct gt_notices *notices);
/* Reads both logs and appends to *out where each vCPU's lines part. Errors of gt_etrace_walk_open
 * and of the readers; GT_E_RANGE: one log is too far ahead. */
int gt_diff_run(struct gt_diff *d, GString *out, struct gt_error *err);
void gt_diff_clear(struct gt_diff *d);

/* Shared among the files. */

/* Moves *at over the lines that are of one vCPU; which: -1 where they do not say. */
int64_t gt_diff_next_run(const char **at, const char *end);
struct gt_diff_sequence *gt_diff_sequence_of(struct gt_diff *d, int64_t vcpu);
/* Both logs have these lines. */
void gt_diff_pass(struct gt_diff *d, const char *text, size_t n);

/* Both logs are binary, or both are text, and what comes next is the same: lets it go. 1: it did;
 * 0: not; or an error. Nothing waits in any sequence. */
int gt_diff_skip(struct gt_diff *d, struct gt_error *err);
/* One log is binary, of which these lines were just made, the other is text, and `abreast` is set:
 * lets go those that come next in the text, too, and returns how many bytes they are. `abreast`
 * stays set where all of them did. */
size_t gt_diff_skip_lines(struct gt_diff *d, int side, const char *text, size_t n);
/* The newest lines of events that gt_diff_skip let go, for q->before. */
void gt_diff_skipped_lines(struct gt_diff *d, struct gt_diff_sequence *q);

/* Prints where q, which has parted, is the same again. */
void gt_diff_put_again(const struct gt_diff *d, const struct gt_diff_sequence *q, GString *out);
/* Prints where q parts. */
void gt_diff_report(struct gt_diff *d, struct gt_diff_sequence *q, GString *out);

#endif
