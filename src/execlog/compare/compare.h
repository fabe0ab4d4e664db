/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds where two execlog logs differ (`guesttrace diff`):
 *   compare.c   reads both logs in turn
 *   source.c    reads a log as lines, and finds their ends
 *   sequence.c  compares a vCPU's lines
 *   skip.c      finds the vCPU of lines, and skips parts that are identical byte for byte; after
 *               a difference, finds where the lines are the same again
 *   report.c    describes the first difference of a vCPU's lines
 */
#ifndef GT_EXECLOG_COMPARE_COMPARE_H
#define GT_EXECLOG_COMPARE_COMPARE_H

#include "base/error.h"
#include "execlog/compare/sequence.h"
#include "execlog/compare/source.h"

enum { GT_DIFF_AHEAD = 1000 }; /* lines that are searched after the first difference */

/* The first difference of a vCPU's lines. */
struct gt_diff_found {
    int64_t vcpu;        /* -1: of no vCPU */
    uint64_t line[2];    /* number in each log; 0: there are no more */
    const char *text[2]; /* the line, without its newline; NULL: there are no more */
};

struct gt_diff {
    /* Takes differences instead of the text; NULL: they are described there. */
    void (*found)(void *self, const struct gt_diff_found *found);
    void *found_self;
    const struct gt_error_notices *notices;
    const char *names[2];
    struct gt_diff_source side[2];
    struct gt_diff_feed { /* the `user` of a source */
        struct gt_diff *diff;
        int side;
    } feeds[2];
    GHashTable *by_vcpu;
    GPtrArray *sequences;
    struct gt_diff_sequence *newest;
    size_t context; /* lines */
    bool values;    /* values of accesses are compared */
    bool differs;
    /* skip.c */
    uint32_t same_codes; /* blocks up to this id are the same in both logs */
    unsigned names_seen;
    bool other_codes; /* a number has different definitions in the two logs */
    bool abreast;     /* no sequence has waiting lines */
};

/* Prepares the comparison of the logs with these names ("-": standard input); the report has
 * `context` lines before each difference. `names` and *notices must outlive *d. Release *d with
 * gt_diff_clear. */
void gt_diff_init(struct gt_diff *d, const char *const names[2], size_t context,
                  const struct gt_error_notices *notices);
/* Reads both logs and appends to *out the first difference of each vCPU's lines. Errors of
 * gt_recording_input_start and of the readers; GT_E_RANGE: one log is too far ahead of the
 * other. */
int gt_diff_run(struct gt_diff *d, GString *out, struct gt_error *err);
void gt_diff_clear(struct gt_diff *d);

/* Functions that these files share. */

/* Moves *at after the next lines of one vCPU and returns the vCPU; -1: the lines have none. */
int64_t gt_diff_next_run(const char **at, const char *end);
struct gt_diff_sequence *gt_diff_sequence_of(struct gt_diff *d, int64_t vcpu);
/* Records that both logs have these lines. */
void gt_diff_pass(struct gt_diff *d, const char *text, size_t n);

/* If both logs have the same form, binary or text, and their next parts are identical, skips these.
 * Returns 1: skipped; 0: not skipped; or an error. No sequence may have waiting lines. */
int gt_diff_skip(struct gt_diff *d, struct gt_error *err);
/* For a binary log and a text, if `abreast` is set: `text` has new lines of the binary log; skips
 * those that are also the next lines of the text, and returns their bytes. `abreast` stays set if
 * all were skipped. */
size_t gt_diff_skip_lines(struct gt_diff *d, int side, const char *text, size_t n);
/* Converts the newest events that gt_diff_skip skipped to lines, for q->before. */
void gt_diff_skipped_lines(struct gt_diff *d, struct gt_diff_sequence *q);

/* Appends the place where the sequence q, which differs, is the same again. */
void gt_diff_put_again(const struct gt_diff *d, const struct gt_diff_sequence *q, GString *out);
/* Appends the first difference of q. */
void gt_diff_report(struct gt_diff *d, struct gt_diff_sequence *q, GString *out);

#endif
