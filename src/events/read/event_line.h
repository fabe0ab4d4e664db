/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One line of a trace-events file, as far as a reader of traces needs it: the properties, the name
 * and the arguments. What stands behind the arguments, the format, is passed over. Whether all of
 * it makes sense to a compiler is tracetool's to say.
 *
 *     line      = blank | "#" anything | property* NAME "(" arguments ")" anything
 *     property  = "disable" | "vcpu" | "tcg"
 *     arguments = "void" | argument ("," argument)*          at most 10
 *     argument  = (WORD | "*")+ NAME
 */
#ifndef GT_EVENTS_READ_EVENT_LINE_H
#define GT_EVENTS_READ_EVENT_LINE_H

#include <guesttrace/simpletrace.h>

/* Part of the text that is parsed; not terminated. */
struct gt_span {
    const char *at;
    size_t n;
};

struct gt_events_argument {
    struct gt_span type, name; /* type: as written */
    enum gt_trace_kind kind;
    bool tcg; /* the type is one of TCGv* */
};

struct gt_events_line {
    bool disable, vcpu, tcg;
    struct gt_span name;
    unsigned n_arguments;
    struct gt_events_argument arguments[GT_TRACE_ARGUMENTS_MAX];
};

/* A line without its newline: 1 and the event, 0 (blank or a comment), or GT_TRACE_E_FORMAT with a
 * message and *where its place in the line. */
int gt_events_line_read(const char *line, size_t n, struct gt_events_line *out, const char **where,
                        struct gt_trace_error *err);

#endif
