/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parser's parts: parser.c has files and events, parser_arguments.c arguments and their types,
 * parser_format.c formats. Each function begins at the current token. */
#ifndef GT_EVENTS_TRACETOOL_PARSER_PRIVATE_H
#define GT_EVENTS_TRACETOOL_PARSER_PRIVATE_H

#include "events/tracetool/parser.h"

/* An event as declared. */
struct gt_tracetool_declaration {
    const char *name;
    bool disable, vcpu, tcg;
    unsigned n_arguments;
    struct gt_tracetool_declared_argument {
        struct gt_tracetool_argument argument;
        bool is_tcg; /* TCGv and the like: only the execution event has it */
    } arguments[GT_EVENT_DECLARED];
    unsigned n_formats;
    const char *formats[2];
};

/* A newline in a format; whether it is an error is known at the end of the file. */
struct gt_tracetool_newline {
    struct gt_tracetool_line line;
    const char *at;
};

/* Adds an error at the current token. */
#define gt_tracetool_parser_error(p, ...)                                                          \
    gt_tracetool_diagnose(&(p)->errors, &(p)->line, (p)->lexer.token.at, __VA_ARGS__)

/* Parses from after "(" to after ")". False: there were errors; the parser is after the ")", or at
 * the end of the line. */
bool gt_tracetool_parse_arguments(struct gt_tracetool_parser *p,
                                  struct gt_tracetool_declaration *d);
/* Parses to the end of the line. False: there were errors. */
bool gt_tracetool_parse_formats(struct gt_tracetool_parser *p, struct gt_tracetool_declaration *d);

#endif
