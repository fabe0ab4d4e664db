/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of the runtime's simple backend: a u64 for each number and pointer, a length and bytes
 * for each string, whose length is read once.
 */
#include "events/tracetool/backends/backend.h"

static void put_lengths(struct gt_generator *g, const struct gt_event *e)
{
    for (unsigned i = 0; i < e->n_arguments; i++) {
        const struct gt_argument *a = &e->arguments[i];
        if (a->is_string)
            gt_emit_strings(g, "        uint32_t _gt_length_", a->name,
                            " = gt_trace_string_length(", a->name, gt_c_suffix(a->name), ");\n",
                            NULL);
    }
}

static void put_size(struct gt_generator *g, const struct gt_event *e)
{
    unsigned numbers = 0, strings = 0;
    for (unsigned i = 0; i < e->n_arguments; i++)
        *(e->arguments[i].is_string ? &strings : &numbers) += 1;
    gt_emit_number(g, 8 * numbers + 4 * strings);
    for (unsigned i = 0; i < e->n_arguments; i++)
        if (e->arguments[i].is_string)
            gt_emit_strings(g, " + _gt_length_", e->arguments[i].name, NULL);
}

static void put_arguments(struct gt_generator *g, const struct gt_event *e)
{
    for (unsigned i = 0; i < e->n_arguments; i++) {
        const struct gt_argument *a = &e->arguments[i];
        const char *suffix = gt_c_suffix(a->name);
        if (a->is_string)
            gt_emit_strings(g, "            gt_trace_put_string(&_gt_slot, ", a->name, suffix,
                            ", _gt_length_", a->name, ");\n", NULL);
        else
            gt_emit_strings(g, "            gt_trace_put_u64(&_gt_slot, (uint64_t)",
                            a->stars ? "(uintptr_t)" : "", a->name, suffix, ");\n", NULL);
    }
}

static void emit(struct gt_generator *g, const struct gt_event *e)
{
    gt_emit(g, "    if (_gt_on & GT_TRACE_SIMPLE) {\n"
               "        struct gt_trace_slot _gt_slot;\n");
    put_lengths(g, e);
    gt_emit(g, "        if (gt_trace_simple_begin(&_gt_slot, &_TRACE_@NAME@_EVENT, ");
    put_size(g, e);
    gt_emit(g, ")) {\n");
    put_arguments(g, e);
    gt_emit(g, "            gt_trace_simple_end(&_gt_slot);\n"
               "        }\n"
               "    }\n");
}

const struct gt_backend gt_backend_simple = {
    .name = "simple",
    .summary = "binary records in a file, for guesttrace events simpletrace and simpletrace.py",
    .bit = "GT_TRACE_SIMPLE",
    .has_state = true,
    .source_emit = emit,
};
