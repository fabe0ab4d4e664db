/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A vCPU's lines in two logs. Lines that both logs have are compared and dropped, except the newest
 * ones; lines that only one log has so far wait.
 */
#ifndef GT_EXECLOG_COMPARE_SEQUENCE_H
#define GT_EXECLOG_COMPARE_SEQUENCE_H

#include "execlog/format/chunk.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Consecutive lines of a log. */
struct gt_diff_piece {
    struct gt_diff_piece *next;
    uint64_t line; /* number of the first line */
    size_t n, at;  /* bytes of text; bytes that were compared */
    char text[];
};

struct gt_diff_waiting {
    struct gt_diff_piece *first, **last;
    size_t bytes; /* bytes that were not compared */
};

struct gt_diff_sequence {
    int64_t vcpu; /* -1: lines without a vCPU */
    struct gt_diff_waiting side[2];
    GString *before; /* the newest lines that are the same in both logs */
    size_t keep;     /* bytes to keep of `before` */
    bool parted;     /* the logs differ: side[0] and side[1] begin with the first different lines */
    bool reported;   /* the difference was reported; further lines are ignored */
    /* binary logs: the same events before the lines in `before`; NULL: none */
    GByteArray *events;
    struct gt_execlog_chunk chunk; /* the chunk of `events` */
};

struct gt_diff_sequence *gt_diff_sequence_new(int64_t vcpu, size_t keep);
void gt_diff_sequence_free(struct gt_diff_sequence *q);
/* Adds n bytes of whole lines; `line` is the number of the first one in its log. */
void gt_diff_sequence_add(struct gt_diff_sequence *q, int side, const char *text, size_t n,
                          uint64_t line);
/* Adds lines that both sides have; neither side may have waiting lines. */
void gt_diff_sequence_pass(struct gt_diff_sequence *q, const char *text, size_t n);
/* Compares the lines that both sides have; sets `parted`. */
void gt_diff_sequence_compare(struct gt_diff_sequence *q);
/* Returns the number, in its log, of the line that comes i lines after the first one that was not
 * compared. 0: there is no such line. */
uint64_t gt_diff_sequence_line(const struct gt_diff_sequence *q, int side, size_t i);
/* True if the side has n lines that were not compared. */
bool gt_diff_sequence_has(const struct gt_diff_sequence *q, int side, size_t n);
/* Returns up to n lines that were not compared; *of is set to their number. The caller frees the
 * string. */
GString *gt_diff_sequence_next(const struct gt_diff_sequence *q, int side, size_t n, size_t *of);
/* Drops all lines. */
void gt_diff_sequence_drop(struct gt_diff_sequence *q);

#endif
