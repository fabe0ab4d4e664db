/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One of the logs that `guesttrace diff` compares: execlog's text, or its binary form as that text;
 * in pieces, one after the other. */
#ifndef GT_ANALYSIS_COMPARE_SOURCE_H
#define GT_ANALYSIS_COMPARE_SOURCE_H

#include "analysis/stream/input.h"
#include "base/notice.h"
#include "format/execlog/text.h"

#include <glib.h>

struct gt_diff_source {
    const struct gt_notices *notices;
    struct gt_etrace_input in;
    /* Whole lines; `line`: the number of the first one. The last line of a text may have no
     * newline. Non-zero: no more. */
    int (*lines)(void *user, const char *text, size_t n, uint64_t line);
    void *user;
    uint64_t line; /* of what comes next, from 1 */
    bool ended;
    /* text */
    char *buf;
    size_t at, fill, room;   /* what was read and not yet given is from at to fill */
    bool all_read;           /* there is nothing more to be read */
    struct gt_error no_text; /* it has a zero byte */
    /* binary; NULL: text */
    struct gt_execlog_reader *r;
    struct gt_execlog_text *text;
    struct gt_execlog_item item; /* events that were read and not yet made lines of; */
    const uint8_t *body;         /* NULL: none */
    bool damaged;
    unsigned names; /* definitions of devices or registers that were read */
};

/* *s needs gt_diff_source_close in any case; `lines` and `user` are set before. Errors of
 * gt_etrace_walk_open, gt_execlog_reader_create. */
int gt_diff_source_open(struct gt_diff_source *s, const struct gt_notices *notices,
                        const char *where, struct gt_error *err);
/* What a log of values is to be read as; before its first step. GT_E_NOMEM. */
int gt_diff_source_begin(struct gt_diff_source *s, bool values, struct gt_error *err);
bool gt_diff_source_has_values(const struct gt_diff_source *s);

/* Gives the next lines; or sets `ended`, and gives the last ones. Damage of a binary log is told,
 * left out, and noted. GT_E_IO, GT_E_NOMEM, GT_E_RANGE. */
int gt_diff_source_step(struct gt_diff_source *s, struct gt_error *err);
/* Binary: reads the next events, if there are any, into `item` and `body`; a step makes lines of
 * them. */
int gt_diff_source_read(struct gt_diff_source *s, struct gt_error *err);
/* Text: reads until `buf` has a piece, or the log has ended. */
int gt_diff_source_fill(struct gt_diff_source *s, struct gt_error *err);
/* Text: the next n bytes, which are whole lines, are not given. */
void gt_diff_source_pass_text(struct gt_diff_source *s, size_t n);
/* The events that were read are not made lines of. */
void gt_diff_source_pass(struct gt_diff_source *s);
void gt_diff_source_close(struct gt_diff_source *s);

#endif
