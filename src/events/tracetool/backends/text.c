/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Backends that need only the line that the C file formats for all of them; and nop. */
#include "events/tracetool/backends/backend.h"

const struct gt_backend gt_backend_nop = {
    .name = "nop",
    .summary = "nothing: calls of events leave no code",
};

const struct gt_backend gt_backend_ftrace = {
    .name = "ftrace",
    .summary = "the kernel's trace_marker",
    .bit = "GT_TRACE_FTRACE",
    .has_state = true,
    .is_text = true,
};

const struct gt_backend gt_backend_log = {
    .name = "log",
    .summary = "text on standard error or in the log file",
    .bit = "GT_TRACE_LOG",
    .has_state = true,
    .is_text = true,
};

const struct gt_backend gt_backend_syslog = {
    .name = "syslog",
    .summary = "the system log",
    .bit = "GT_TRACE_SYSLOG",
    .has_state = true,
    .is_text = true,
};
