/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel says of a process of this machine, or of a thread (/proc/PID/stat). */
#ifndef GT_BASE_PROCESS_STAT_H
#define GT_BASE_PROCESS_STAT_H

#include <stdbool.h>

struct gt_process_stat {
    char state;      /* 'R', 'S', ..., 'Z': it has ended, its parent has not waited for it */
    unsigned parent; /* 0: not in its PID namespace */
    unsigned long long began; /* clock ticks after the machine */
};

/* False: there is no such process, or it cannot be known; *out is 0 then. Allocates nothing. */
bool gt_process_stat(unsigned pid, struct gt_process_stat *out);

#endif
