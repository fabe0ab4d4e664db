/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines that are being made from events (text.h).
 *
 * All are in one buffer. The waiting line is the last: the bytes from `line` on. It may be empty,
 * as in the plugin: a register's change may precede the first instruction.
 */
#ifndef GT_EXECLOG_FORMAT_LINES_H
#define GT_EXECLOG_FORMAT_LINES_H

#include "execlog/format/events.h"
#include "execlog/format/text.h"

enum {
    GT_EXECLOG_GIVEN = 128 << 10,      /* bytes of whole lines after which they are passed on */
    GT_EXECLOG_FIRST_ROOM = 512 << 10, /* bytes */
    GT_EXECLOG_MOST_ROOM = 256 << 20,
    GT_EXECLOG_LINE_PREFIX = 8, /* bytes of `65535, ` */
};

/* The waiting line of a vCPU while other vCPUs' chunks are read. */
struct gt_execlog_waiting {
    char *text;
    size_t n;
    bool insn, access;
    bool complete; /* it may be printed again */
};

struct gt_execlog_text {
    const struct gt_execlog_codes *codes;
    struct gt_execlog_text_options o;
    bool some; /* the query selects lines */
    char *buf;
    size_t room, fill, line;
    bool insn, access; /* the waiting line matches the query's address, or its access */
    bool broken;       /* the beginning of the waiting line was lost */
    uint64_t number;   /* number of the waiting line */
    uint64_t skip;     /* lines that the chunk leaves out */
    char prefix[GT_EXECLOG_LINE_PREFIX];
    size_t prefix_len;
    struct gt_execlog_waiting *waiting; /* waiting lines by vCPU */
    size_t n_waiting;                   /* 1 + the highest vCPU seen */
    struct gt_execlog_waiting complete; /* a complete line that may be printed again */
    size_t complete_room;
    int status; /* the first failure, or 1 */
    struct gt_execlog_walk walk;
};

/* Passes the whole lines on. */
void gt_execlog_lines_give(struct gt_execlog_text *t);
/* Makes room for n more bytes. False: the text has ended or failed. */
bool gt_execlog_lines_grow(struct gt_execlog_text *t, size_t n);
/* The waiting line is complete. */
void gt_execlog_lines_end(struct gt_execlog_text *t);
/* Keeps a complete line, which may be printed again. */
void gt_execlog_lines_keep(struct gt_execlog_text *t, const char *text, size_t n);
/* Makes the complete line the waiting line. */
void gt_execlog_lines_repeat(struct gt_execlog_text *t);
/* Saves and restores a vCPU's waiting line between two of its chunks. */
void gt_execlog_lines_put_aside(struct gt_execlog_text *t, struct gt_execlog_waiting *w);
void gt_execlog_lines_take_up(struct gt_execlog_text *t, struct gt_execlog_waiting *w);

/* Returns room for n bytes; NULL: the text has ended or failed. */
static inline char *gt_execlog_lines_room(struct gt_execlog_text *t, size_t n)
{
    if (__builtin_expect(t->room - t->fill < n, 0) && (t->status || !gt_execlog_lines_grow(t, n)))
        return NULL;
    return t->buf + t->fill;
}

#endif
