/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The backends, and the table of them. */
#include "events/tracetool/backends/backend.h"

#include <string.h>

static const struct gt_tracetool_backend *const backends[] = {
    &gt_tracetool_backend_nop, &gt_tracetool_backend_dtrace, &gt_tracetool_backend_ftrace,
    &gt_tracetool_backend_log, &gt_tracetool_backend_simple, &gt_tracetool_backend_syslog,
    &gt_tracetool_backend_ust,
};

const struct gt_tracetool_backend *gt_tracetool_backend_at(size_t index)
{
    return index < sizeof backends / sizeof *backends ? backends[index] : NULL;
}

const struct gt_tracetool_backend *gt_tracetool_backend_find(const char *name)
{
    const struct gt_tracetool_backend *b;
    for (size_t i = 0; (b = gt_tracetool_backend_at(i)); i++)
        if (!strcmp(b->name, name))
            return b;
    return NULL;
}

bool gt_tracetool_backends_do(const struct gt_tracetool_backend *const *list)
{
    for (; *list; list++)
        if ((*list)->bit)
            return true;
    return false;
}

bool gt_tracetool_backends_have_state(const struct gt_tracetool_backend *const *list)
{
    for (; *list; list++)
        if ((*list)->has_state)
            return true;
    return false;
}

bool gt_tracetool_backends_have_text(const struct gt_tracetool_backend *const *list)
{
    for (; *list; list++)
        if ((*list)->is_text)
            return true;
    return false;
}

bool gt_tracetool_event_is_sent(const struct gt_tracetool_generator *g,
                                const struct gt_tracetool_event *e)
{
    return !e->disable && gt_tracetool_backends_do(g->options->backends);
}

/* Backends that need only the line that the C file formats for all of them; and nop. */

const struct gt_tracetool_backend gt_tracetool_backend_nop = {
    .name = "nop",
    .summary = "nothing: calls of events leave no code",
};

const struct gt_tracetool_backend gt_tracetool_backend_ftrace = {
    .name = "ftrace",
    .summary = "the kernel's trace_marker",
    .bit = "GT_TRACE_FTRACE",
    .has_state = true,
    .is_text = true,
};

const struct gt_tracetool_backend gt_tracetool_backend_log = {
    .name = "log",
    .summary = "text on standard error or in the log file",
    .bit = "GT_TRACE_LOG",
    .has_state = true,
    .is_text = true,
};

const struct gt_tracetool_backend gt_tracetool_backend_syslog = {
    .name = "syslog",
    .summary = "the system log",
    .bit = "GT_TRACE_SYSLOG",
    .has_state = true,
    .is_text = true,
};

/*
 * Tracepoints of LTTng-UST, which the formats ust-events-h and ust-events-c declare and define.
 * They have states of their own, which `lttng enable-event` changes.
 */

const struct gt_tracetool_backend gt_tracetool_backend_ust = {
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

/*
 * Static probes of <sys/sdt.h>, for SystemTap, bpftrace, perf and gdb: PROVIDER:EVENT.
 *
 * A probe has a semaphore, which a tracer raises while it listens: off, an event costs a load and a
 * branch. The probe stands in the C file, so that the header needs no <sys/sdt.h>. The semaphores
 * are weak, since an object of `dtrace -G` defines them as well.
 */

const struct gt_tracetool_backend gt_tracetool_backend_dtrace = {
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

/*
 * Records of the runtime's simple backend: a u64 for each number and pointer, a length and bytes
 * for each string, whose length is read once.
 */

static void put_lengths(struct gt_tracetool_generator *g, const struct gt_tracetool_event *e)
{
    for (unsigned i = 0; i < e->n_arguments; i++) {
        const struct gt_tracetool_argument *a = &e->arguments[i];
        if (a->is_string)
            gt_tracetool_emit_strings(g, "        uint32_t _gt_length_", a->name,
                                      " = gt_trace_string_length(", a->name,
                                      gt_tracetool_c_suffix(a->name), ");\n", NULL);
    }
}

static void put_size(struct gt_tracetool_generator *g, const struct gt_tracetool_event *e)
{
    unsigned numbers = 0, strings = 0;
    for (unsigned i = 0; i < e->n_arguments; i++)
        *(e->arguments[i].is_string ? &strings : &numbers) += 1;
    gt_tracetool_emit_number(g, 8 * numbers + 4 * strings);
    for (unsigned i = 0; i < e->n_arguments; i++)
        if (e->arguments[i].is_string)
            gt_tracetool_emit_strings(g, " + _gt_length_", e->arguments[i].name, NULL);
}

static void put_arguments(struct gt_tracetool_generator *g, const struct gt_tracetool_event *e)
{
    for (unsigned i = 0; i < e->n_arguments; i++) {
        const struct gt_tracetool_argument *a = &e->arguments[i];
        const char *suffix = gt_tracetool_c_suffix(a->name);
        if (a->is_string)
            gt_tracetool_emit_strings(g, "            gt_trace_put_string(&_gt_slot, ", a->name,
                                      suffix, ", _gt_length_", a->name, ");\n", NULL);
        else
            gt_tracetool_emit_strings(g, "            gt_trace_put_u64(&_gt_slot, (uint64_t)",
                                      a->stars ? "(uintptr_t)" : "", a->name, suffix, ");\n", NULL);
    }
}

static void emit(struct gt_tracetool_generator *g, const struct gt_tracetool_event *e)
{
    gt_tracetool_emit(g, "    if (_gt_on & GT_TRACE_SIMPLE) {\n"
                         "        struct gt_trace_slot _gt_slot;\n");
    put_lengths(g, e);
    gt_tracetool_emit(g, "        if (gt_trace_simple_begin(&_gt_slot, &_TRACE_@NAME@_EVENT, ");
    put_size(g, e);
    gt_tracetool_emit(g, ")) {\n");
    put_arguments(g, e);
    gt_tracetool_emit(g, "            gt_trace_simple_end(&_gt_slot);\n"
                         "        }\n"
                         "    }\n");
}

const struct gt_tracetool_backend gt_tracetool_backend_simple = {
    .name = "simple",
    .summary = "binary records in a file, for guesttrace events simpletrace and simpletrace.py",
    .bit = "GT_TRACE_SIMPLE",
    .has_state = true,
    .source_emit = emit,
};
