/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events files of QEMU 5.0 to 10.2: one event a line; blank lines and lines that begin with '#' are
 * ignored.
 *
 *     event     = { property } name "(" arguments ")" [ formats ]
 *     property  = "disable" | "vcpu" | "tcg"
 *     arguments = "void" | argument { "," argument }
 *     argument  = type name
 *     type      = word { word } { "*" | "const" }
 *     formats   = format [ "," format ]          two, translation and execution, with tcg alone
 *     format    = literal { literal | macro }    macro: PRIx64 and its like, after a '%'
 *
 * The grammar changed between versions in three places. GT_GRAMMAR_OLD (5.0): the first argument of
 * `vcpu` events is a vCPU, `tcg` makes two events of one, a format may contain newlines.
 * GT_GRAMMAR_NEW (10.0): `vcpu` has no effect, there is no `tcg`, and a format has no newlines.
 * GT_GRAMMAR_ANY reads both: `vcpu` and `tcg` are as in the old grammar, and newlines are allowed
 * in a file that has such an event.
 */
#ifndef GT_EVENTS_TRACETOOL_PARSER_H
#define GT_EVENTS_TRACETOOL_PARSER_H

#include "events/tracetool/diagnose.h"
#include "events/tracetool/event.h"
#include "events/tracetool/lexer.h"

enum gt_tracetool_grammar {
    GT_GRAMMAR_ANY,
    GT_GRAMMAR_OLD,
    GT_GRAMMAR_NEW,
};

/* Parses several files into one list of events. */
struct gt_tracetool_parser {
    enum gt_tracetool_grammar grammar;
    struct gt_tracetool_event_list events;
    struct gt_tracetool_diagnostics errors;

    /* private */
    GHashTable *names; /* names of events in upper case, and where they were declared */
    struct gt_tracetool_line line;
    struct gt_tracetool_lexer lexer;
    GArray *newlines; /* struct gt_tracetool_newline: newlines in formats of this file */
    bool is_old;      /* this file has events of the old grammar */
};

void gt_tracetool_parser_init(struct gt_tracetool_parser *p, enum gt_tracetool_grammar grammar);
/* Parses the text of a file. Errors are added to p->errors, valid events to p->events. `path` is
 * copied; `text` need not outlive the call. */
void gt_tracetool_parser_read(struct gt_tracetool_parser *p, const char *path, const char *text,
                              size_t size);
void gt_tracetool_parser_free(struct gt_tracetool_parser *p);

#endif
