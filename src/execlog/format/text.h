/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Converts events to execlog's text (docs/execlog.md), byte for byte: whole lines, in the order of
 * their completion. A line that is open at the end of a chunk continues in the vCPU's next chunk.
 */
#ifndef GT_EXECLOG_FORMAT_TEXT_H
#define GT_EXECLOG_FORMAT_TEXT_H

#include "execlog/format/reader.h"

/* Selects lines; a line must meet all conditions. */
struct gt_execlog_query {
    uint64_t from, to; /* first and last line number, from 1 */
    bool by_insn, by_access;
    uint64_t insn_lo, insn_hi;     /* by_insn: the range of the instruction's address */
    uint64_t access_lo, access_hi; /* by_access: the line has an access in this range */
};

struct gt_execlog_text_options {
    struct gt_execlog_query query;
    bool values; /* print ` = 0xVALUE` after an access whose value is known; the plugin's text form
                    never has it */
    /* Takes whole lines. Non-zero: no further lines are wanted. */
    int (*lines)(void *self, const char *text, size_t n);
    /* Called for a block that is not known; may add its definition. May be NULL. */
    void (*missing)(void *self, uint32_t id);
    void *self;
};

struct gt_execlog_text;

/* Selects all lines. */
extern const struct gt_execlog_query gt_execlog_all;

/* The caller owns the codes, and may add definitions while the text exists. GT_E_NOMEM. */
int gt_execlog_text_create(const struct gt_execlog_codes *codes,
                           const struct gt_execlog_text_options *options,
                           struct gt_execlog_text **out, struct gt_error *err);
void gt_execlog_text_destroy(struct gt_execlog_text *t); /* NULL is fine */

/* Converts a chunk of EVENTS. Returns 0, or 1: `lines` wants no more, or all further lines are
 * beyond `to`. GT_E_FORMAT: an event is invalid (the lines before it are passed on); GT_E_RANGE: a
 * line of more than 256 MiB; GT_E_NOMEM. */
int gt_execlog_text_add(struct gt_execlog_text *t, const struct gt_execlog_chunk *chunk,
                        const uint8_t *body, struct gt_error *err);
/* Reports that a chunk could not be read: lines that it may have continued are left out. */
void gt_execlog_text_lose(struct gt_execlog_text *t);
/* Passes on the complete lines that are still buffered; incomplete lines are dropped. Returns as
 * gt_execlog_text_add. */
int gt_execlog_text_flush(struct gt_execlog_text *t);

#endif
