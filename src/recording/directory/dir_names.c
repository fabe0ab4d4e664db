/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of tasks. uftrace takes a task's name from its session, or from a perf recording beside it:
 * perf-cpuN.dat, in perf's format. A name is one COMM record of 48 bytes in that file:
 *
 *   u32 type (3: COMM), u16 misc, u16 size, u32 pid, u32 tid, char name[16],
 *   u32 pid, u32 tid, u64 time
 *
 * All commands show the last name of a task; replay shows each name as an event, if the task has an
 * open call at that time.
 */
#include "recording/directory/dir_internal.h"

#include <string.h>

enum { COMM = 3, RECORD = 48, NAME = 16 };

/* As much of the name as fits, without what a terminal would act on. */
static void put_name(struct gt_writer *w, const char *name)
{
    char text[NAME] = {0};
    for (size_t i = 0; i < NAME - 1 && name[i]; i++)
        text[i] = (unsigned char)name[i] < ' ' || name[i] == 127 ? '?' : name[i];
    gt_write_bytes(w, text, sizeof text);
}

int gt_uftrace_dir_add_name(const struct gt_uftrace_dir *d, uint64_t time, uint32_t tid,
                            uint32_t pid, const char *name, struct gt_error *err)
{
    uint8_t record[RECORD];
    const struct gt_text one = {.data = (char *)record, .len = sizeof record};
    struct gt_writer w;
    gt_writer_init(&w, record, sizeof record);
    gt_write_u32(&w, COMM);
    gt_write_u16(&w, 0);
    gt_write_u16(&w, RECORD);
    gt_write_u32(&w, pid);
    gt_write_u32(&w, tid);
    put_name(&w, name);
    gt_write_u32(&w, pid);
    gt_write_u32(&w, tid);
    gt_write_u64(&w, time);
    return gt_uftrace_dir_add_text(d, GT_UFTRACE_NAMES, &one, err);
}
