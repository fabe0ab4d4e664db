/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording of calls that is to be changed: a uftrace directory, or a compact file. A file's text
 * files are in a directory beside it meanwhile (calls/file/work.h), so that all code which
 * changes them needs to know directories only.
 */
#ifndef GT_CALLS_REPAIR_EDIT_H
#define GT_CALLS_REPAIR_EDIT_H

#include "calls/file/work.h"
#include "calls/repair/records.h"

struct gt_repair_edit {
    struct gt_recording_records at;
    struct gt_compact_work work; /* a compact file's */
    int lock;                    /* a directory's, where it is alone; -1: none */
};

/* `alone`: no other process records or changes it until the end, else GT_E_BUSY. Not `alone`: other
 * processes may record meanwhile, and only text files may be changed. Damage is reported. A flight
 * recorder's last snapshot is changed before it has its name, which work.snapshot is after the end.
 * `path` must live as long as the handle, which stays where it is. Errors of gt_uftrace_dir_open
 * and gt_compact_work_open. */
int gt_repair_edit_open(const char *path, bool alone, const struct gt_error_notices *notices,
                        struct gt_repair_edit *out, struct gt_error *err);
/* `changed` false: no text file was changed. A file gets its text files, unless processes still
 * record into it. Errors of gt_compact_work_close. */
int gt_repair_edit_close(struct gt_repair_edit *e, bool changed, struct gt_error *err);

#endif
