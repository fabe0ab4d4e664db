/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tracepoints of LTTng-UST, which the formats ust-events-h and ust-events-c declare and define.
 * They have states of their own, which `lttng enable-event` changes.
 */
#include "events/tracetool/backends/backend.h"

const struct gt_backend gt_backend_ust = {
    .name = "ust",
    .summary = "tracepoints of LTTng-UST",
    .bit = "GT_TRACE_UST",
    .header_begin = "#include \"@ust_header@\"\n",
    .header_event = "void _ust_trace_@name@(@parameters@);\n"
                    "int _ust_enabled_@name@(void);\n",
    .header_call = "    tracepoint(@provider@, @name@@more_arguments@);\n",
    .is_on = "tracepoint_enabled(@provider@, @name@)",
    .source_event = "void _ust_trace_@name@(@parameters@)\n"
                    "{\n"
                    "    tracepoint(@provider@, @name@@more_arguments@);\n"
                    "}\n"
                    "int _ust_enabled_@name@(void)\n"
                    "{\n"
                    "    return tracepoint_enabled(@provider@, @name@) != 0;\n"
                    "}\n",
    .rust_function = "_ust_trace_",
    .rust_is_on = "_ust_enabled_",
};
