/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records of a recording of calls, wherever they are: who opened it says how they are read. */
#ifndef GT_RECORDING_RECORDS_H
#define GT_RECORDING_RECORDS_H

#include "recording/directory/uftrace.h"

struct gt_recording_records;

/* Who takes records; `wanted` may be NULL: all tasks. */
struct gt_recording_records_reader {
    bool (*wanted)(void *self, uint32_t tid);
    int (*piece)(void *self, uint32_t tid, const struct gt_uftrace_record *r, size_t n);
    void *self;
};

/* Paths; the caller's. */
struct gt_recording_records {
    const char *dir;  /* the text files */
    const char *file; /* the records: a compact file; NULL: TID.dat files in the directory */
    /* Calls `piece` for all records of each task for which `wanted` is true (NULL: of all), one
     * task's in their order. What it returns below 0 ends the call and is returned. A damaged file
     * is read up to the damage. Errors of gt_uftrace_dat_list and gt_compact_file_open; GT_E_IO,
     * GT_E_NOMEM.
     */
    int (*read)(const struct gt_recording_records *at,
                const struct gt_recording_records_reader *reader, struct gt_error *err);
};

#endif
