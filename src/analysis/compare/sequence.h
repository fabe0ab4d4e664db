/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A vCPU's lines in two logs. What both have is compared and let go, but for the newest of it; what
 * one has and the other not yet, waits.
 */
#ifndef GT_ANALYSIS_COMPARE_SEQUENCE_H
#define GT_ANALYSIS_COMPARE_SEQUENCE_H

#include "format/execlog/chunk.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lines that stood one after the other in a log. */
struct gt_diff_piece {
    struct gt_diff_piece *next;
    uint64_t line; /* of the first one */
    size_t n, at;  /* bytes; compared so far */
    char text[];
};

struct gt_diff_waiting {
    struct gt_diff_piece *first, **last;
    size_t bytes; /* that are not compared */
};

struct gt_diff_sequence {
    int64_t vcpu; /* -1: lines without one */
    struct gt_diff_waiting side[2];
    GString *before; /* the newest lines that are the same */
    size_t keep;     /* bytes of those */
    bool parted;     /* side[0] and side[1] begin with the lines that differ */
    bool told;       /* nothing of it matters any more */
    /* binary: events that are the same, before `before`; NULL: none */
    GByteArray *events;
    struct gt_execlog_chunk chunk; /* theirs */
};

struct gt_diff_sequence *gt_diff_sequence_new(int64_t vcpu, size_t keep);
void gt_diff_sequence_free(struct gt_diff_sequence *q);
/* n bytes of whole lines, the first of which has that number in its log. */
void gt_diff_sequence_add(struct gt_diff_sequence *q, int side, const char *text, size_t n,
                          uint64_t line);
/* Both sides have these lines, and none of theirs waits. */
void gt_diff_sequence_pass(struct gt_diff_sequence *q, const char *text, size_t n);
/* Compares what both sides have; sets `parted`. */
void gt_diff_sequence_compare(struct gt_diff_sequence *q);
/* The number, in its log, of the line that comes i lines after the first one that was not compared.
 * 0: there is none. */
uint64_t gt_diff_sequence_line(const struct gt_diff_sequence *q, int side, size_t i);
/* Whether it has n lines that were not compared. */
bool gt_diff_sequence_has(const struct gt_diff_sequence *q, int side, size_t n);
/* Up to n of them, one after the other; *of is set to how many. The caller frees it. */
GString *gt_diff_sequence_next(const struct gt_diff_sequence *q, int side, size_t n, size_t *of);
/* Lets all of it go. */
void gt_diff_sequence_drop(struct gt_diff_sequence *q);

#endif
