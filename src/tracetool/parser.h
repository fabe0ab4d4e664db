/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events files, as QEMU 5.0 to 10.2 have them: one event a line; blank lines and lines that begin
 * with '#' do not count.
 *
 *     event     = { property } name "(" arguments ")" [ formats ]
 *     property  = "disable" | "vcpu" | "tcg"
 *     arguments = "void" | argument { "," argument }
 *     argument  = type name
 *     type      = word { word } { "*" | "const" }
 *     formats   = format [ "," format ]          two, translation and execution, with tcg alone
 *     format    = literal { literal | macro }    macro: PRIx64 and its like, behind a '%'
 *
 * The grammar changed between versions in three places. GT_GRAMMAR_OLD (5.0): `vcpu` events have a
 * vCPU for their first argument, `tcg` makes two events of one, a newline may stand inside a
 * format. GT_GRAMMAR_NEW (10.0): `vcpu` means nothing, there is no `tcg`, and no newline in a
 * format. GT_GRAMMAR_ANY reads both: `vcpu` and `tcg` are as in the old one, and so are newlines in
 * a file that has such an event.
 */
#ifndef GT_TRACETOOL_PARSER_H
#define GT_TRACETOOL_PARSER_H

#include "tracetool/diagnose.h"
#include "tracetool/event.h"
#include "tracetool/lexer.h"

enum gt_grammar {
    GT_GRAMMAR_ANY,
    GT_GRAMMAR_OLD,
    GT_GRAMMAR_NEW,
};

/* Reads files one after the other, for one list of events. */
struct gt_parser {
    enum gt_grammar grammar;
    struct gt_event_list events;
    struct gt_diagnostics errors;

    /* private */
    GHashTable *names; /* of events, upper case: where they were declared */
    struct gt_line line;
    struct gt_lexer lexer;
    GArray *newlines; /* struct gt_newline: inside formats of this file */
    bool is_old;      /* this file has events of the old grammar */
};

void gt_parser_init(struct gt_parser *p, enum gt_grammar grammar);
/* Parses the text of a file. What is wrong with it is in p->errors; its good events are in
 * p->events. The path is kept, the text is not. */
void gt_parser_read(struct gt_parser *p, const char *path, const char *text, size_t size);
void gt_parser_free(struct gt_parser *p);

#endif
