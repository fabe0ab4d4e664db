/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Static probes of <sys/sdt.h>, for SystemTap, bpftrace, perf and gdb: PROVIDER:EVENT.
 *
 * A probe has a semaphore, which a tracer raises while it listens: off, an event costs a load and a
 * branch. The probe stands in the C file, so that the header needs no <sys/sdt.h>. The semaphores
 * are weak, since an object of `dtrace -G` defines them as well.
 */
#include "events/tracetool/backends/backend.h"

const struct gt_backend gt_backend_dtrace = {
    .name = "dtrace",
    .summary = "static probes, for SystemTap and other tracers",
    .bit = "GT_TRACE_DTRACE",
    .header_event =
        "extern unsigned short @provider@_@name@_semaphore __attribute__((section(\".probes\")));\n"
        "void _dtrace_trace_@name@(@parameters@);\n"
        "int _dtrace_enabled_@name@(void);\n",
    .header_call = "    if (gt_trace_unlikely(gt_trace_on(&@provider@_@name@_semaphore)))\n"
                   "        _dtrace_trace_@name@(@arguments@);\n",
    .is_on = "gt_trace_on(&@provider@_@name@_semaphore)",
    .source_first = "#define _SDT_HAS_SEMAPHORES 1\n"
                    "#include <sys/sdt.h>\n",
    .source_event = "unsigned short @provider@_@name@_semaphore\n"
                    "    __attribute__((weak, section(\".probes\")));\n"
                    "void _dtrace_trace_@name@(@parameters@)\n"
                    "{\n"
                    "    STAP_PROBE@count@(@provider@, @name@@more_arguments@);\n"
                    "}\n"
                    "int _dtrace_enabled_@name@(void)\n"
                    "{\n"
                    "    return gt_trace_on(&@provider@_@name@_semaphore) != 0;\n"
                    "}\n",
    .rust_function = "_dtrace_trace_",
    .rust_is_on = "_dtrace_enabled_",
};
