/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings that are changed: see edit.h. */
#include "analysis/recording/edit.h"

#include <sys/stat.h>

int gt_recording_edit_open(const char *path, struct gt_recording_edit *out, struct gt_error *err)
{
    struct stat st;
    struct gt_uftrace_dir dir;
    *out = (struct gt_recording_edit){.at.dir = path};
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return gt_uftrace_dir_open(&dir, path, err);
    int status = gt_compact_work_open(path, &out->work, err);
    if (status == 0)
        out->at = (struct gt_records){out->work.dir.path, out->work.file};
    return status;
}

int gt_recording_edit_close(struct gt_recording_edit *e, bool changed, struct gt_error *err)
{
    return e->at.file ? gt_compact_work_close(&e->work, changed, err) : 0;
}
