/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * format=compact: a recording in one file. Records are packed into it by the streams' writer; text
 * files lie in a directory beside it (calls/file/work.h), which the recording's last
 * process gathers into the file.
 *
 * What runs on the worker says so.
 */
#ifndef GT_CALLS_RECORDER_OUTPUT_PACKED_H
#define GT_CALLS_RECORDER_OUTPUT_PACKED_H

#include "base/error.h"
#include "base/stream/stream.h"
#include "calls/file/work.h"
#include "calls/file/writer.h"
#include "calls/recorder/options.h"

#include <stdbool.h>

struct gt_recorder;
struct gt_vcpu;

/* At load. */
struct gt_recorder_packed {
    struct gt_compact_work work;
    /* One of them; both NULL: the recording is a directory. */
    struct gt_compact_writer *writer;
    struct gt_compact_flight *flight; /* a flight recorder: snapshot.h */
    bool removed;                     /* at the end: somebody has removed the file */
};

static inline bool gt_recorder_packed_is_on(const struct gt_recorder_packed *p)
{
    return p->writer || p->flight;
}

/* At load: whether the arguments fit each other. GT_E_USAGE. */
int gt_recorder_packed_check(const struct gt_recorder_options *o, struct gt_error *err);

/* On the worker, at load: makes file and directory, or, `again`, opens those that this process
 * recorded into before it replaced itself with execve(). Sets the directory of the output. Errors
 * of gt_compact_work_create and gt_compact_writer_create. */
int gt_recorder_packed_create(struct gt_recorder *r, const char *path, bool again,
                              struct gt_error *err);
/* The limit of the streams' pool, for gt_streams_create: a flight recorder whose size was asked for
 * has a pool of a quarter of that at most, but at least 1 MiB. */
size_t gt_recorder_packed_pool(const struct gt_recorder_options *o);
/* Then: what takes the streams' records. */
void gt_recorder_packed_take_streams(struct gt_recorder *r);

/* On the worker, when streams are written: ends the calls of those that lost records, and marks the
 * losses. If the disk is still full the calls stay open. */
void gt_recorder_packed_end_streams(const struct gt_recorder *r,
                                    const struct gt_stream_loss *stream, size_t n);

/* On the worker, at the end, when streams and text files are written: the last process gathers the
 * recording; a flight recorder's makes a last snapshot, where there is `more` since the one before.
 * Of a file that somebody has removed nothing is left.
 * Errors of gt_compact_work_gather and gt_compact_work_end_flight. */
int gt_recorder_packed_finish(struct gt_recorder *r, bool more, struct gt_error *err);

#endif
