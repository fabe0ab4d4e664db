/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plugin's way in: a recorder for a host and its arguments. */
#ifndef GT_PLUGIN_UFTRACE_UFTRACE_H
#define GT_PLUGIN_UFTRACE_UFTRACE_H

#include "plugin/uftrace/recorder.h"

/* Makes a recorder of *r, whose bytes are 0, and the data directory that the arguments name; argv
 * are QEMU's words. r->events are what the host is to report from then on, with r as `self`. *info
 * is copied. Errors of gt_args_parse, gt_levels_init, gt_code_modules_read, gt_tracing_start and
 * gt_output_create; GT_E_UNSUPPORTED (the target), GT_E_USAGE, GT_E_NOMEM: no thread is left. */
int gt_uftrace_init(struct gt_uftrace_recorder *r, const struct gt_host_info *info, int argc,
                    char **argv, struct gt_error *err);

#endif
