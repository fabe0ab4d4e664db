/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plugin's arguments, as uftrace.c reads them. They are set at load. */
#ifndef GT_CALLS_RECORDER_OPTIONS_H
#define GT_CALLS_RECORDER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum gt_recorder_tasks {
    GT_TASKS_STACK, /* a task for each call stack of the guest */
    GT_TASKS_CPU,   /* a task for each vCPU */
};

enum gt_recorder_clock {
    GT_CLOCK_AUTO, /* instructions while the guest has one vCPU, else the host's clock */
    GT_CLOCK_INSN, /* retired instructions */
    GT_CLOCK_HOST, /* the host's monotonic clock, ns */
};

enum gt_recorder_output_format {
    GT_OUTPUT_UFTRACE, /* a directory of uftrace's */
    GT_OUTPUT_COMPACT, /* one file: calls/recorder/output/packed.h */
};

/* Texts belong to QEMU and live as long as the process. */
struct gt_recorder_options {
    const char *output;     /* directory or file; NULL: "uftrace.data", "uftrace.gtrace" */
    int format;             /* enum gt_recorder_output_format */
    const char *control;    /* path of a socket for commands; NULL: none */
    const char *last;       /* how much the flight recorder keeps; NULL: there is none */
    const char *split;      /* size or age of a part; NULL: the recording is in one file */
    const char *size_limit; /* bytes of the recording; NULL: no limit */
    const char *code_map;   /* machines: path of a code map; NULL: no map */
    const char *abi;        /* calling convention of the functions; NULL: the target's */
    int clock;              /* enum gt_recorder_clock */
    uint64_t depth;         /* deeper calls are tracked and not recorded */
    bool has_depth;         /* it was given */
    int tasks;              /* enum gt_recorder_tasks */
    uint64_t max_tasks;     /* machines: contexts beyond this number are not recorded */
    bool tail_calls;        /* a jump to another function's entry replaces the caller */
    bool privilege_levels;  /* a task for each privilege level of each vCPU */
    bool system_calls;      /* user mode: they are calls */
    bool srcline;           /* functions have source lines. With r->lock, once the guest runs */
    bool console;           /* whoever has started QEMU sends the console's lines: causes.h */
    bool qmp;               /* and QEMU's events */
    bool follow_exec;       /* user mode: programs that the guest executes are recorded, too */
    bool summary;           /* print the number of calls at the end */
    bool discontinuities;   /* use the host's reports of interrupts and exceptions; false
                             * where it has no such reports */
};

#endif
