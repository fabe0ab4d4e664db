/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The trace file, which the writer alone touches: whole records, whatever happens to the disk.
 *
 * Records are collected in a buffer and written together. Before the first come the header and the
 * names of the events that have ever been on; later names come before the records that follow.
 * Where writing fails the file is cut behind the last record that is whole, what did not fit is
 * counted, and a record says so as soon as there is room again.
 */
#ifndef GT_EVENTS_RECORD_TRACEFILE_H
#define GT_EVENTS_RECORD_TRACEFILE_H

#include "guesttrace/control.h"

struct gt_events_name;

enum { GT_EVENTS_OUT_SIZE = 256 << 10 };

struct gt_events_tracefile {
    char path[4096]; /* "": the default name */
    bool forked;     /* the process id stands behind the name */
    int fd;          /* -1: not created yet */
    bool failed;   /* to be opened, or to be written to where it cannot be cut: nothing is tried */
    bool threads;  /* the version with thread ids */
    int error;     /* errno of what went wrong first, until it was told */
    uint64_t size; /* of the file, up to the last whole record */
    struct gt_events_name *named; /* the last whose name is in the file */
    uint64_t lost;                /* in writing, and not told in the file yet */
    uint64_t lost_ever, events;
    size_t used; /* bytes of the buffer */
    uint8_t buffer[GT_EVENTS_OUT_SIZE];
};

/* The name that the file has or will have. */
void gt_events_tracefile_name(const struct gt_events_tracefile *f, char *name, size_t size);
/* Creates it now, with its header; false: could not be, and error is set. */
bool gt_events_tracefile_open(struct gt_events_tracefile *f);
/* Adds whole records; they may be reused at once. */
void gt_events_tracefile_add(struct gt_events_tracefile *f, const uint8_t *records, size_t size,
                             uint64_t events);
void gt_events_tracefile_add_dropped(struct gt_events_tracefile *f, uint64_t time, uint32_t pid,
                                     uint64_t count);
void gt_events_tracefile_flush(struct gt_events_tracefile *f);
void gt_events_tracefile_close(struct gt_events_tracefile *f);

#endif
