/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Working directories of files that are changed, and their end: see work.h. */
#include "calls/file/work_parts.h"

#include "base/file.h"
#include "base/stream/stream.h"
#include "calls/file/file.h"
#include "calls/file/gather.h"
#include "calls/file/set.h"
#include "calls/file/writer.h"
#include "recording/texts/dir_lock.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NAME_ROOM = 4096 + 64, OPEN_TRIES = 100 };

/* ---- opening ------------------------------------------------------------------------------- */

/* Complete before it gets its name. */
static int scatter(struct gt_compact_work *w, const struct gt_error_notices *notices,
                   struct gt_error *err)
{
    char aside[NAME_ROOM];
    const char *slash = strrchr(w->dir.path, '/');
    snprintf(aside, sizeof aside, "%.*s/.%s.%d.tmp", (int)(slash - w->dir.path), w->dir.path,
             slash + 1, (int)getpid());
    gt_file_remove_left_beside(w->dir.path);
    gt_file_remove_dir(aside, NULL); /* of a process of this number that was killed */
    int status = gt_file_make_dir(aside, err);
    if (status < 0)
        return status;
    status = gt_compact_scatter(w->file, aside, true, notices, err);
    if (status == 0)
        status = gt_recording_dir_lock_make(aside, w->file, &w->lock, err);
    if (status == 0)
        status = gt_file_move_dir(aside, w->dir.path, err);
    if (status < 0) {
        gt_file_remove_dir(aside, NULL);
        gt_compact_work_leave(w);
    }
    return status;
}

/* FILE is there, or is made. */
static int restore(struct gt_compact_work *w, struct gt_error *err)
{
    if (access(w->file, F_OK) == 0)
        return 0;
    int status = gt_compact_work_restore(w, err);
    w->restored = status == 0;
    if (status < 0)
        gt_compact_work_leave(w);
    return status;
}

static int busy(struct gt_compact_work *w, struct gt_error *err)
{
    gt_compact_work_leave(w);
    return gt_error_set(err, GT_E_BUSY, "%s: another process changes it; wait until that has ended",
                        w->file);
}

/* The directory, which is there or is made of the file. GT_E_NOT_FOUND, GT_E_EXISTS: somebody else
 * has just gathered or made it. */
static int use(struct gt_compact_work *w, bool alone, const struct gt_error_notices *notices,
               struct gt_error *err)
{
    w->made = !gt_compact_work_exists(w);
    if (w->made) {
        int status = scatter(w, notices, err);
        return status == 0 && alone && !gt_compact_work_is_last(w) ? busy(w, err) : status;
    }
    return alone ? gt_recording_dir_lock_alone(w->dir.path, w->file, &w->lock, err)
                 : gt_compact_work_enter(w, err);
}

int gt_compact_work_open(const char *path, bool alone, const struct gt_error_notices *notices,
                         struct gt_compact_work *out, struct gt_error *err)
{
    int status = gt_compact_work_name(path, out, err);
    if (status == 0 && gt_compact_flight_is(out->dir.path))
        return gt_compact_work_open_flight(out, err);
    if (status == 0)
        status = gt_compact_file_check(out->file, err);
    if (status == GT_E_NOT_FOUND && gt_compact_set_highest(out->file).number)
        status = 0;
    if (status < 0)
        return status;
    status = GT_E_NOT_FOUND; /* not for ever */
    for (int tries = 0; tries < OPEN_TRIES && (status == GT_E_NOT_FOUND || status == GT_E_EXISTS);
         tries++)
        status = use(out, alone, notices, err);
    return status < 0 ? status : restore(out, err);
}

/* ---- the last one ---------------------------------------------------------------------------- */

int64_t gt_compact_work_recover(const struct gt_compact_work *w, struct gt_streams_missing *missing,
                                struct gt_error *err)
{
    if (w->flight)
        return w->recovered;
    const struct gt_compact_writer_options o = {.path = w->file, .dir = w->dir.path};
    struct gt_compact_writer *writer;
    int64_t n = gt_compact_writer_create(&o, &writer);
    if (n < 0)
        return gt_error_set(err, (int)n, "%s: out of memory", w->file);
    n = gt_streams_recover_packed(w->dir.path, &gt_compact_packing, writer, missing, err);
    gt_compact_writer_destroy(writer);
    return n;
}

int gt_compact_work_gather(const struct gt_compact_work *w, struct gt_error *err)
{
    int64_t n = gt_compact_work_has_pool(w) ? gt_compact_work_recover(w, NULL, err) : 0;
    if (n < 0 || gt_compact_work_has_pool(w))
        return n < 0 ? (int)n : 0;
    int status = gt_compact_work_finish_parts(w, err);
    if (status == 0)
        status = gt_compact_gather(w->dir.path, w->file, w->limit, err);
    return status < 0 ? status : gt_compact_work_remove_dir(w, err);
}

int gt_compact_work_close(struct gt_compact_work *w, bool changed, struct gt_error *err)
{
    int status = 0;
    bool last = gt_compact_work_is_last(w);
    if (last && w->flight)
        status = gt_compact_work_close_flight(w, err);
    else if (last && (changed || !w->made))
        status = gt_compact_work_gather(w, err);
    else if (last)
        status = gt_compact_work_remove_dir(w, err);
    gt_compact_work_leave(w);
    return status;
}
