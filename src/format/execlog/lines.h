/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines on their way from events to text (text.h).
 *
 * They are made in one buffer, the waiting line last. It is what stands after `line`; it is empty
 * where nothing does, as it is for the plugin: a register's change may come before any instruction.
 */
#ifndef GT_FORMAT_EXECLOG_LINES_H
#define GT_FORMAT_EXECLOG_LINES_H

#include "format/execlog/events.h"
#include "format/execlog/text.h"

enum {
    GT_EXECLOG_GIVEN = 128 << 10,      /* whole lines are given when they are so many bytes */
    GT_EXECLOG_FIRST_ROOM = 512 << 10, /* bytes */
    GT_EXECLOG_MOST_ROOM = 256 << 20,
    GT_EXECLOG_LINE_PREFIX = 8, /* `65535, ` */
};

/* A vCPU's line that waits while others' go on. */
struct gt_execlog_waiting {
    char *text;
    size_t n;
    bool insn, access;
    bool complete; /* it may come again */
};

struct gt_execlog_text {
    const struct gt_execlog_codes *codes;
    struct gt_execlog_text_options o;
    bool some; /* lines are chosen */
    char *buf;
    size_t room, fill, line;
    bool insn, access; /* the waiting line is asked for by these */
    bool broken;       /* what it begins with was lost */
    uint64_t number;   /* of the waiting line */
    uint64_t skip;     /* lines that are not in the log */
    char prefix[GT_EXECLOG_LINE_PREFIX];
    size_t prefix_len;
    struct gt_execlog_waiting *waiting; /* by vCPU, */
    size_t n_waiting;                   /* up to the highest one seen */
    struct gt_execlog_waiting kept;     /* a line that is complete, and may come again */
    size_t kept_room;
    int status; /* of the first failure, or 1 */
    struct gt_execlog_walk walk;
};

/* Gives the whole lines. */
void gt_execlog_lines_give(struct gt_execlog_text *t);
/* Makes room for n more bytes. False: no more lines are made. */
bool gt_execlog_lines_grow(struct gt_execlog_text *t, size_t n);
/* The waiting line is complete. */
void gt_execlog_lines_end(struct gt_execlog_text *t);
/* It may come again. */
void gt_execlog_lines_keep(struct gt_execlog_text *t, const char *text, size_t n);
/* The waiting line is that one. */
void gt_execlog_lines_repeat(struct gt_execlog_text *t);
/* The vCPU's line, from its last chunk to its next one. */
void gt_execlog_lines_put_aside(struct gt_execlog_text *t, struct gt_execlog_waiting *w);
void gt_execlog_lines_take_up(struct gt_execlog_text *t, struct gt_execlog_waiting *w);

/* Where n bytes go; NULL: no more lines are made. */
static inline char *gt_execlog_lines_room(struct gt_execlog_text *t, size_t n)
{
    if (__builtin_expect(t->room - t->fill < n, 0) && (t->status || !gt_execlog_lines_grow(t, n)))
        return NULL;
    return t->buf + t->fill;
}

#endif
