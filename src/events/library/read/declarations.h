/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The declared events of a trace-events file: functions for the reader, beside the public ones of
 * guesttrace/simpletrace.h.
 */
#ifndef GT_EVENTS_LIBRARY_READ_DECLARATIONS_H
#define GT_EVENTS_LIBRARY_READ_DECLARATIONS_H

#include <guesttrace/simpletrace.h>

/* Returns the arguments preceded by the vCPU, for a declaration with the property "vcpu". */
static inline const struct gt_trace_argument *
gt_events_vcpu_arguments(const struct gt_trace_declaration *d)
{
    return d->arguments - 1;
}

/* gt_trace_declarations_find for a name of n bytes. */
const struct gt_trace_declaration *gt_events_find(const struct gt_trace_declarations *d,
                                                  const char *name, size_t n);

/*
 * One line of a trace-events file, as far as a reader of traces needs it: the properties, the name
 * and the arguments. The format after the arguments is skipped; tracetool checks it.
 *
 *     line      = blank | "#" anything | property* ["guest."] NAME "(" arguments ")" anything
 *     property  = "disable" | "vcpu" | "tcg" | "at=" place
 *     place     = non-blanks [LITERAL]                        of a guest: docs/guest-events.md
 *     arguments = "void" | argument ("," argument)*          at most 10
 *     argument  = (WORD | "*")+ NAME
 */

/* A part of the parsed text; not NUL-terminated. */
struct gt_events_span {
    const char *at;
    size_t n;
};

struct gt_events_argument {
    struct gt_events_span type, name; /* type: as in the text */
    enum gt_trace_kind kind;
    bool tcg; /* the type is one of TCGv* */
};

struct gt_events_line {
    bool disable, vcpu, tcg;
    struct gt_events_span at; /* n 0: none. What follows "at=", with the literal after it */
    struct gt_events_span name;
    unsigned n_arguments;
    struct gt_events_argument arguments[GT_TRACE_ARGUMENTS_MAX];
    const char *after; /* what follows the arguments: the format */
};

/* Parses a line without its newline. Returns 1 and the event, or 0 for a blank line or a comment;
 * GT_TRACE_E_FORMAT with a message, and *where is the place in the line. */
int gt_events_line_read(const char *line, size_t n, struct gt_events_line *out, const char **where,
                        struct gt_trace_error *err);

#endif
