/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What formats and backends generate with: templates with slots between '@' for what the event at
 * hand is.
 *
 *     @name@ @NAME@          the event
 *     @group@ @GROUP@        the group, as part of a name
 *     @provider@             of probes and tracepoints
 *     @prefix@               of SystemTap's probes
 *     @parameters@           "int a, char *b", or "void"
 *     @more_parameters@      ", int a, char *b", or nothing
 *     @arguments@            "a, b", or nothing
 *     @more_arguments@       ", a, b", or nothing
 *     @count@                of arguments, or nothing where there are none
 *     @unused@               a statement for each argument, which says that it is not used
 *     @header@ @runtime@ @ust_header@    names of files, for #include
 *     @line@ @path@          where the event is declared, for #line
 *     @out_path@             the output, for #line
 */
#ifndef GT_TRACETOOL_GENERATOR_H
#define GT_TRACETOOL_GENERATOR_H

#include "base/file.h"
#include "tracetool/event.h"
#include "tracetool/options.h"

#include <stdbool.h>
#include <stddef.h>

enum gt_slot {
    GT_SLOT_ARGUMENTS,
    GT_SLOT_COUNT,
    GT_SLOT_GROUP,
    GT_SLOT_GROUP_UPPER,
    GT_SLOT_HEADER,
    GT_SLOT_LINE,
    GT_SLOT_MORE_ARGUMENTS,
    GT_SLOT_MORE_PARAMETERS,
    GT_SLOT_NAME,
    GT_SLOT_NAME_UPPER,
    GT_SLOT_OUT_PATH,
    GT_SLOT_PARAMETERS,
    GT_SLOT_PATH,
    GT_SLOT_PREFIX,
    GT_SLOT_PROVIDER,
    GT_SLOT_RUNTIME,
    GT_SLOT_UNUSED,
    GT_SLOT_UST_HEADER,
    GT_SLOTS,
};

struct gt_generator {
    const struct gt_tracetool_options *options;
    const struct gt_event *events;
    size_t n;
    struct gt_text out;

    /* private */
    size_t lines; /* newlines in out */
    GString *slots[GT_SLOTS];
    const char *path; /* whose quoted form is in words[GT_SLOT_PATH] */
};

/* The options and events must outlive it. */
void gt_generator_init(struct gt_generator *g, const struct gt_tracetool_options *options,
                       const struct gt_event_list *events);
void gt_generator_free(struct gt_generator *g);

/* Makes it the event that templates speak of. */
void gt_generator_event(struct gt_generator *g, const struct gt_event *e);
/* The same, of its name alone. */
void gt_generator_name(struct gt_generator *g, const struct gt_event *e);
/* Adds a template; NULL is nothing. */
void gt_emit(struct gt_generator *g, const char *template);
/* Adds text as it is. */
void gt_emit_text(struct gt_generator *g, const char *text);
/* Adds strings as they are, until NULL. */
void gt_emit_strings(struct gt_generator *g, const char *text, ...) __attribute__((sentinel));
void gt_emit_number(struct gt_generator *g, size_t number);
void gt_emit_printf(struct gt_generator *g, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* #line: what follows stands in the events file; and where it ends, in the output again. */
void gt_emit_line_of_event(struct gt_generator *g);
void gt_emit_line_of_output(struct gt_generator *g);

/* The name of an argument in C: with a `_` where it is a word of the language. */
const char *gt_c_suffix(const char *name);

#endif
