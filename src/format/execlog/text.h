/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events become execlog's text (docs/execlog.md), to the byte: whole lines, in the order in
 * which they were completed. A line that a chunk leaves open goes on in the vCPU's next chunk.
 */
#ifndef GT_FORMAT_EXECLOG_TEXT_H
#define GT_FORMAT_EXECLOG_TEXT_H

#include "format/execlog/reader.h"

/* Which lines; all that is said must be true of a line. */
struct gt_execlog_query {
    uint64_t from, to; /* numbers of lines, from 1 */
    bool by_insn, by_access;
    uint64_t insn_lo, insn_hi;     /* by_insn: the instruction's address is one of these */
    uint64_t access_lo, access_hi; /* by_access: it accesses one of these */
};

struct gt_execlog_text_options {
    struct gt_execlog_query query;
    bool values; /* ` = 0xVALUE` after an access whose value is known; no part of the text form */
    /* Whole lines. Non-zero: no more of them. */
    int (*lines)(void *self, const char *text, size_t n);
    /* A block is not known: learns it, if it can. May be NULL. */
    void (*missing)(void *self, uint32_t id);
    void *self;
};

struct gt_execlog_text;

/* All lines. */
extern const struct gt_execlog_query gt_execlog_all;

/* The codes are the caller's, and may learn while the text lives. GT_E_NOMEM. */
int gt_execlog_text_create(const struct gt_execlog_codes *codes,
                           const struct gt_execlog_text_options *options,
                           struct gt_execlog_text **out, struct gt_error *err);
void gt_execlog_text_destroy(struct gt_execlog_text *t); /* NULL is fine */

/* A chunk of EVENTS with its body. 0; 1: `lines` wants no more, or what comes is beyond `to`;
 * GT_E_FORMAT: its events make no sense from some byte on (the lines before are given); GT_E_RANGE:
 * a line of more than 256 MiB; GT_E_NOMEM. */
int gt_execlog_text_add(struct gt_execlog_text *t, const struct gt_execlog_chunk *chunk,
                        const uint8_t *body, struct gt_error *err);
/* A chunk could not be read: lines that it may have gone on with are not made. */
void gt_execlog_text_lose(struct gt_execlog_text *t);
/* Gives the lines that are still kept back; those that no chunk completed are not given. As
 * gt_execlog_text_add. */
int gt_execlog_text_flush(struct gt_execlog_text *t);

#endif
