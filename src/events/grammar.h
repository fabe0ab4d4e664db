/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The grammar of a trace-events file, one line at a time, of QEMU 5.0 to 10.2:
 *
 *     line       = blank | "#" anything | property* NAME "(" arguments ")" formats
 *     property   = "disable" | "vcpu" | "tcg"
 *     arguments  = "void" | argument ("," argument)*                      at most 10
 *     argument   = (WORD | "*")+ NAME                   words: see gt_grammar_is_type
 *     formats    = [format] | format "," format                  two: with "tcg" only
 *     format     = (STRING | PRI macro)+                       begins with a string
 *
 * What is wrong is reported, all of it, with its column; a line with an error gives no event. What
 * concerns more than one line (names that occur twice) is the caller's.
 */
#ifndef GT_EVENTS_GRAMMAR_H
#define GT_EVENTS_GRAMMAR_H

#include <guesttrace/simpletrace.h>

/* Part of the text that is parsed; not terminated. */
struct gt_span {
    const char *at;
    size_t n;
};

enum gt_grammar_property {
    GT_GRAMMAR_DISABLE = 1,
    GT_GRAMMAR_VCPU = 2,
    GT_GRAMMAR_TCG = 4,
};

struct gt_grammar_argument {
    struct gt_span type, name; /* type: as written, up to its last star or word */
    enum gt_trace_kind kind;
    bool tcg; /* the type is one of TCGv* */
};

struct gt_grammar_event {
    unsigned properties; /* enum gt_grammar_property */
    struct gt_span name;
    unsigned n_arguments;
    struct gt_grammar_argument arguments[GT_TRACE_ARGUMENTS_MAX];
    unsigned n_formats;
    struct gt_span formats[2]; /* from the first quote to the end of the last literal or macro */
    /* The first \n in a format, NULL without one: QEMU refuses it since 9.1, and had such events
     * before, so that it is for the caller to judge. At the end of a format it is an error. */
    const char *newline;
};

/* `at` is in the line; the message is one phrase. */
typedef void (*gt_grammar_report)(void *self, const char *at, const char *message);

/* A line without its newline: 1 and the event, 0 (blank or a comment), or GT_TRACE_E_FORMAT after
 * at least one report. */
int gt_grammar_line(const char *line, size_t n, struct gt_grammar_event *out,
                    gt_grammar_report report, void *self);

/* Whether a type may be made of this word: int, long, ..., uint64_t, size_t, void, const. */
bool gt_grammar_is_type(const char *word, size_t n);

#endif
