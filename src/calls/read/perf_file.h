/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A perf-cpuN.dat: names of tasks, and when they were suspended. */
#ifndef GT_CALLS_READ_PERF_FILE_H
#define GT_CALLS_READ_PERF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_calls_perf_record {
    uint64_t time;
    uint32_t tid;
    const char *name; /* the task's from now on; NULL: it is suspended, or goes on */
    bool out;         /* suspended */
    bool preempted;   /* and not because it waits */
};

/* Calls `take` for each record that says such a thing, in the order of the file; damage ends it. */
void gt_calls_perf_read(const char *data, size_t size,
                        void (*take)(void *self, const struct gt_calls_perf_record *r), void *self);

#endif
