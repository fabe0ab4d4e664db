/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One of the logs that `guesttrace diff` compares, read in pieces: execlog's text, or its binary
 * form converted to text. */
#ifndef GT_EXECLOG_COMPARE_SOURCE_H
#define GT_EXECLOG_COMPARE_SOURCE_H

#include "base/error.h"
#include "execlog/format/text.h"
#include "recording/input.h"

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

struct gt_diff_source {
    const struct gt_error_notices *notices;
    struct gt_recording_input in;
    /* Takes whole lines; `line` is the number of the first one. The last line of a text may have no
     * newline. Non-zero: no further lines are wanted. */
    int (*lines)(void *user, const char *text, size_t n, uint64_t line);
    void *user;
    uint64_t line; /* number of the next line, from 1 */
    bool ended;
    /* text logs */
    char *buf;
    size_t at, fill,
        room;      /* the bytes that were read and not yet passed on are from `at` to `fill` */
    bool all_read; /* the end of the log was read */
    struct gt_error no_text; /* the error of a text with a zero byte */
    /* binary logs; NULL: a text log */
    struct gt_execlog_reader *r;
    struct gt_execlog_text *text;
    struct gt_execlog_item
        item;            /* the chunk of events that was read and not yet converted to lines */
    const uint8_t *body; /* its body; NULL: no such chunk */
    bool damaged;
    unsigned names; /* number of definitions of devices and registers that were read */
};

/* Opens a log; set `lines` and `user` before. Call gt_diff_source_close in any case. Errors of
 * gt_recording_input_start, gt_execlog_reader_create. */
int gt_diff_source_open(struct gt_diff_source *s, const struct gt_error_notices *notices,
                        const char *where, struct gt_error *err);
/* Begins the conversion to text, with or without values of accesses; call it before the first step.
 * GT_E_NOMEM. */
int gt_diff_source_begin(struct gt_diff_source *s, bool values, struct gt_error *err);
bool gt_diff_source_has_values(const struct gt_diff_source *s);

/* Passes on the next lines; at the end passes on the last lines and sets `ended`. Damaged chunks of
 * a binary log are reported, skipped, and set `damaged`. GT_E_IO, GT_E_NOMEM, GT_E_RANGE. */
int gt_diff_source_step(struct gt_diff_source *s, struct gt_error *err);
/* Binary logs: reads the next chunk of events, if there is one, into `item` and `body`; the next
 * step converts it to lines. */
int gt_diff_source_read(struct gt_diff_source *s, struct gt_error *err);
/* Text logs: reads until `buf` has a piece, or the log has ended. */
int gt_diff_source_fill(struct gt_diff_source *s, struct gt_error *err);
/* Text logs: skips the next n bytes, which are whole lines. */
void gt_diff_source_pass_text(struct gt_diff_source *s, size_t n);
/* Binary logs: skips the chunk of events that was read. */
void gt_diff_source_pass(struct gt_diff_source *s);
void gt_diff_source_close(struct gt_diff_source *s);

/* Finds the ends of lines of text, many bytes at a time. */

/* Counts newlines. */
uint64_t gt_diff_lines_count(const char *text, size_t n);
/* Returns the size of the leading lines that begin with the same `prefix` bytes as the first line;
 * prefix is at most n; 0: the size of the first line. The last line may have no newline. */
size_t gt_diff_lines_alike(const char *text, size_t n, size_t prefix);

#endif
