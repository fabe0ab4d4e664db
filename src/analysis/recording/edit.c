/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings that are changed: see edit.h. */
#include "analysis/recording/edit.h"

#include "format/compact/set.h"

#include <sys/stat.h>

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

int gt_recording_edit_open(const char *path, struct gt_recording_edit *out, struct gt_error *err)
{
    struct gt_uftrace_dir dir;
    struct gt_compact_work *w = &out->work;
    *out = (struct gt_recording_edit){.at.dir = path};
    if (!is_compact(path))
        return gt_uftrace_dir_open(&dir, path, err);
    int status = gt_compact_work_open(path, w, err);
    if (status == 0)
        out->at = (struct gt_records){w->dir.path, w->flight ? w->snapshot : w->file};
    return status;
}

int gt_recording_edit_close(struct gt_recording_edit *e, bool changed, struct gt_error *err)
{
    return e->at.file ? gt_compact_work_close(&e->work, changed, err) : 0;
}
