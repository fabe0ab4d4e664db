/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings that are changed: see edit.h. */
#include "calls/repair/edit.h"

#include "calls/file/set.h"
#include "recording/file_kind.h"
#include "recording/texts/dir_lock.h"

#include <sys/stat.h>
#include <unistd.h>

/* A flight recorder has no file before its first snapshot; of a set the newest part may be missing.
 */
static bool is_compact(const char *path)
{
    struct gt_compact_work work;
    struct stat st;
    if (stat(path, &st) == 0)
        return S_ISREG(st.st_mode);
    return gt_compact_work_name(path, &work, NULL) == 0 &&
           (gt_compact_flight_is(work.dir.path) || gt_compact_set_highest(work.file).number);
}

/* The lock of a directory in which no process records; none where it cannot be written to. */
static int lock_directory(struct gt_repair_edit *e, struct gt_error *err)
{
    const char *path = e->at.dir;
    struct gt_error why;
    int status = gt_recording_dir_lock_make(path, path, &e->lock, &why);
    if (status == GT_E_IO)
        return 0;
    if (status == 0 && !gt_recording_dir_lock_is_last(path, e->lock))
        status = gt_error_set(&why, GT_E_BUSY, "%s: another process changes it", path);
    return status < 0 ? gt_error_set(err, status, "%s", why.text) : 0;
}

static int open_directory(struct gt_repair_edit *e, bool alone, struct gt_error *err)
{
    struct gt_uftrace_dir dir;
    int status = gt_uftrace_dir_open(&dir, e->at.dir, err);
    if ((status == GT_E_FORMAT || status == 0) && !gt_recording_kind_is_recording(e->at.dir))
        return gt_recording_kind_refuse(e->at.dir, 0, "a recording of calls", err);
    return status < 0 || !alone ? status : lock_directory(e, err);
}

int gt_repair_edit_open(const char *path, bool alone, const struct gt_error_notices *notices,
                        struct gt_repair_edit *out, struct gt_error *err)
{
    struct gt_compact_work *w = &out->work;
    *out = (struct gt_repair_edit){.at = {.dir = path, .read = gt_repair_records_read}, .lock = -1};
    if (!is_compact(path))
        return open_directory(out, alone, err);
    int status = gt_compact_work_open(path, alone, notices, w, err);
    if (status == 0)
        out->at = (struct gt_recording_records){.dir = w->dir.path,
                                                .file = w->flight ? w->snapshot : w->file,
                                                .read = gt_repair_records_read};
    return status == GT_E_FORMAT ? gt_recording_kind_refuse(path, GT_FILE_IS(GT_FILE_CALLS),
                                                            "a recording of calls", err)
                                 : status;
}

int gt_repair_edit_close(struct gt_repair_edit *e, bool changed, struct gt_error *err)
{
    if (e->at.file)
        return gt_compact_work_close(&e->work, changed, err);
    if (e->lock >= 0) {
        gt_recording_dir_lock_remove(e->at.dir);
        close(e->lock);
    }
    e->lock = -1;
    return 0;
}
