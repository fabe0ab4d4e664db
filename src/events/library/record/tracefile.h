/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The trace file, which only the writer accesses: it has whole records, even after disk errors.
 *
 * Records are collected in a buffer and written together. The file begins with the header and the
 * names of all events that have ever been on; later names are written before the next records. If a
 * write fails, the file is cut after the last whole record, the lost events are counted, and a
 * record reports them as soon as there is room again.
 */
#ifndef GT_EVENTS_LIBRARY_RECORD_TRACEFILE_H
#define GT_EVENTS_LIBRARY_RECORD_TRACEFILE_H

#include "guesttrace/control.h"

struct gt_events_name;

enum { GT_EVENTS_OUT_SIZE = 256 << 10 };

struct gt_events_tracefile {
    char path[4096]; /* "": the default name */
    bool forked;     /* the process id is appended to the name */
    int fd;          /* -1: not created yet */
    bool failed;     /* it could not be opened, or could neither be written nor cut: it is not tried
                        again */
    bool threads;    /* the file has the version with thread ids */
    int error;       /* errno of the first error, until it is reported */
    uint64_t size;   /* bytes of the file up to the last whole record */
    struct gt_events_name *named; /* the last event name that is in the file */
    uint64_t lost;                /* events lost in writing and not reported in the file yet */
    uint64_t lost_ever, events;
    size_t used; /* bytes used of the buffer */
    uint8_t buffer[GT_EVENTS_OUT_SIZE];
};

/* Returns the name that the file has or will have. */
void gt_events_tracefile_name(const struct gt_events_tracefile *f, char *name, size_t size);
/* Creates the file now, with its header; false: failed, and `error` is set. */
bool gt_events_tracefile_open(struct gt_events_tracefile *f);
/* Adds whole records; the caller may reuse their memory at once. */
void gt_events_tracefile_add(struct gt_events_tracefile *f, const uint8_t *records, size_t size,
                             uint64_t events);
void gt_events_tracefile_add_dropped(struct gt_events_tracefile *f, uint64_t time, uint32_t pid,
                                     uint64_t count);
void gt_events_tracefile_flush(struct gt_events_tracefile *f);
void gt_events_tracefile_close(struct gt_events_tracefile *f);

#endif
