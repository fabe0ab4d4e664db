/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of the threads of a Linux guest, in machines whose code map says where the kernel keeps
 * them. Without such a map all functions do nothing.
 */
#ifndef GT_CALLS_RECORDER_RUN_LINUX_H
#define GT_CALLS_RECORDER_RUN_LINUX_H

#include "qemu/host.h"
#include "recording/code_map/code_map.h"

struct gt_recorder;
struct gt_vcpu;

struct gt_run_linux {
    const struct gt_recording_code_linux
        *layout;                           /* of tasks in the kernel, at load; NULL: no names */
    struct gt_host_register first, second; /* a function's arguments */
};

/* At load, after the code map was read. */
void gt_run_linux_init(struct gt_recorder *r);

/* Callbacks, which may read registers: the kernel switches threads, and names one. */
void gt_run_on_thread_switch(unsigned vcpu, void *data);
void gt_run_on_thread_named(unsigned vcpu, void *data);

/* The vCPU's thread is on a stack that may be another one: names it after a thread switch. */
void gt_run_linux_transferred(struct gt_vcpu *v, uint64_t time);

#endif
