/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers of a machine's tasks. The first ones are of vCPUs, then come those of call stacks;
 * with --privilege-levels each vCPU has GT_TASK_LEVELS numbers, 100 and more, which for vCPU 9 and
 * later would be those of call stacks: they are behind GT_TASK_HIGH.
 */
#ifndef GT_FORMAT_RECORDING_TASKS_H
#define GT_FORMAT_RECORDING_TASKS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    GT_TASK_LEVELS = 100,
    GT_TASK_STACK = 1001, /* the first call stack; max-tasks= is at most a million */
    GT_TASK_HIGH = 100000000,
};

static inline uint32_t gt_task_of_vcpu(unsigned vcpu)
{
    return vcpu + 1;
}

/* level: below GT_TASK_LEVELS. */
static inline uint32_t gt_task_of_level(unsigned vcpu, unsigned level)
{
    uint32_t id = (vcpu + 1) * GT_TASK_LEVELS + level;
    return id < GT_TASK_STACK - 1 ? id : GT_TASK_HIGH + id;
}

/* True where the task is a vCPU's, which runs many processes. */
static inline bool gt_task_is_vcpu(uint32_t id)
{
    return id < GT_TASK_STACK || id >= GT_TASK_HIGH;
}

#endif
