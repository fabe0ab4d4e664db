/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Buffered input of a trace: a file, or a pipe whose writer is running.
 *
 * Files are read, not mapped: a traced program may truncate its file while it is read.
 */
#ifndef GT_EVENTS_LIBRARY_READ_INPUT_H
#define GT_EVENTS_LIBRARY_READ_INPUT_H

#include <guesttrace/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_events_input {
    const char *path; /* the caller's string */
    int fd;
    bool own, ended;
    uint8_t *data; /* `room` bytes; the unread ones are from start to end */
    size_t start, end, room;
    uint64_t offset;                 /* offset of `start` in the file */
    void (*before_wait)(void *self); /* NULL: no call */
    void *self;
};

/* "-" is standard input. GT_TRACE_E_IO, GT_TRACE_E_NOT_FOUND, GT_TRACE_E_NOMEM. */
int gt_events_input_open(struct gt_events_input *in, const char *path, struct gt_trace_error *err);
void gt_events_input_close(struct gt_events_input *in);

static inline size_t gt_events_input_left(const struct gt_events_input *in)
{
    return in->end - in->start;
}

/* Reads until n bytes are buffered: 1, or 0 if the file ends before; GT_TRACE_E_IO,
 * GT_TRACE_E_NOMEM. Buffered bytes may move. */
int gt_events_input_need(struct gt_events_input *in, size_t n, struct gt_trace_error *err);

static inline void gt_events_input_take(struct gt_events_input *in, size_t n)
{
    in->start += n;
    in->offset += n;
}

#endif
