/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorder that QEMU's callbacks work on. Callbacks from translated code get a vCPU's number
 * and one pointer, handlers of fork get nothing: they, and gt_host_tool_install, call
 * gt_recorder_installed. No other function does.
 */
#ifndef GT_CALLS_RECORDER_INSTALLED_H
#define GT_CALLS_RECORDER_INSTALLED_H

#include "calls/recorder/recorder.h"

/* Hidden: its members are one load away, relative to the instruction. */
extern struct gt_recorder gt_recorder_instance __attribute__((visibility("hidden")));

static inline struct gt_recorder *gt_recorder_installed(void)
{
    return &gt_recorder_instance;
}

#endif
