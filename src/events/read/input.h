/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The bytes of a trace on their way through a buffer: a file, or a pipe whose writer lives.
 *
 * Files are read, not mapped: a traced program may cut its file short while it is read.
 */
#ifndef GT_EVENTS_READ_INPUT_H
#define GT_EVENTS_READ_INPUT_H

#include <guesttrace/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_events_input {
    const char *path; /* the caller's */
    int fd;
    bool own, ended;
    uint8_t *data; /* `room` bytes, those from start to end are to be read */
    size_t start, end, room;
    uint64_t offset;                 /* of `start` in the file */
    void (*before_wait)(void *self); /* NULL: nothing */
    void *self;
};

/* "-" is standard input. GT_TRACE_E_IO, GT_TRACE_E_NOT_FOUND, GT_TRACE_E_NOMEM. */
int gt_events_input_open(struct gt_events_input *in, const char *path, struct gt_trace_error *err);
void gt_events_input_close(struct gt_events_input *in);

static inline size_t gt_events_input_left(const struct gt_events_input *in)
{
    return in->end - in->start;
}

/* Has at least n bytes at hand: 1; 0 where the file ends before; GT_TRACE_E_IO, GT_TRACE_E_NOMEM.
 * What was at hand may have moved. */
int gt_events_input_need(struct gt_events_input *in, size_t n, struct gt_trace_error *err);

static inline void gt_events_input_take(struct gt_events_input *in, size_t n)
{
    in->start += n;
    in->offset += n;
}

#endif
