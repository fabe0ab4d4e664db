/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Creates the plugin's recorder for a host, from the plugin's arguments. */
#ifndef GT_CALLS_RECORDER_UFTRACE_H
#define GT_CALLS_RECORDER_UFTRACE_H

#include "calls/recorder/recorder.h"

/* Initialises *r, whose bytes are 0, and creates the data directory that the arguments name; argv
 * has QEMU's words. Then the host must report the events of r->events, with r as `self`. *info is
 * copied. Errors of gt_support_args_parse, gt_select_levels_init, gt_support_code_modules_read,
 * gt_support_tracing_start, gt_run_control_start and gt_recorder_output_create; GT_E_UNSUPPORTED
 * (the target), GT_E_USAGE, GT_E_NOMEM: no thread runs then. */
int gt_recorder_init(struct gt_recorder *r, const struct gt_host_info *info, int argc, char **argv,
                     struct gt_error *err);

#endif
