/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers of a machine's tasks: vCPUs have the first ones, call stacks those from GT_TASK_STACK
 * on. With --privilege-levels each vCPU has GT_TASK_LEVELS numbers from 100 on; from vCPU 9 on they
 * would be numbers of call stacks, so GT_TASK_HIGH is added to them.
 */
#ifndef GT_RECORDING_TEXTS_TASKS_H
#define GT_RECORDING_TEXTS_TASKS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    GT_TASK_LEVELS = 100,
    GT_TASK_STACK = 1001, /* the first call stack; max-tasks= is at most a million */
    GT_TASK_HIGH = 100000000,
};

static inline uint32_t gt_recording_task_of_vcpu(unsigned vcpu)
{
    return vcpu + 1;
}

/* `level` is below GT_TASK_LEVELS. */
static inline uint32_t gt_recording_task_of_level(unsigned vcpu, unsigned level)
{
    uint32_t id = (vcpu + 1) * GT_TASK_LEVELS + level;
    return id < GT_TASK_STACK - 1 ? id : GT_TASK_HIGH + id;
}

/* True for the task of a vCPU, which runs many processes. */
static inline bool gt_recording_task_is_vcpu(uint32_t id)
{
    return id < GT_TASK_STACK || id >= GT_TASK_HIGH;
}

#endif
