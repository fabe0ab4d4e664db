/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The generator of formats and backends: templates whose slots, between '@', are replaced with
 * properties of the current event.
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
#ifndef GT_EVENTS_TRACETOOL_GENERATOR_H
#define GT_EVENTS_TRACETOOL_GENERATOR_H

#include "base/file.h"
#include "events/tracetool/event.h"
#include "events/tracetool/options.h"

#include <stdbool.h>
#include <stddef.h>

enum gt_tracetool_slot {
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

struct gt_tracetool_generator {
    const struct gt_tracetool_options *options;
    const struct gt_tracetool_event *events;
    size_t n;
    struct gt_text out;

    /* private */
    size_t lines; /* number of newlines in out */
    GString *slots[GT_SLOTS];
    const char *path; /* the path whose quoted form is in slots[GT_SLOT_PATH] */
};

/* The options and events must outlive the generator. */
void gt_tracetool_generator_init(struct gt_tracetool_generator *g,
                                 const struct gt_tracetool_options *options,
                                 const struct gt_tracetool_event_list *events);
void gt_tracetool_generator_free(struct gt_tracetool_generator *g);

/* Makes e the current event. */
void gt_tracetool_generator_event(struct gt_tracetool_generator *g,
                                  const struct gt_tracetool_event *e);
/* Makes e the current event, but sets only the slots of its name. */
void gt_tracetool_generator_name(struct gt_tracetool_generator *g,
                                 const struct gt_tracetool_event *e);
/* Appends a template; NULL appends nothing. */
void gt_tracetool_emit(struct gt_tracetool_generator *g, const char *template);
/* Appends text without replacing slots. */
void gt_tracetool_emit_text(struct gt_tracetool_generator *g, const char *text);
/* Appends strings, until NULL, without replacing slots. */
void gt_tracetool_emit_strings(struct gt_tracetool_generator *g, const char *text, ...)
    __attribute__((sentinel));
void gt_tracetool_emit_number(struct gt_tracetool_generator *g, size_t number);
void gt_tracetool_emit_printf(struct gt_tracetool_generator *g, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Append #line directives: to the place of the event in the events file, and back to the output. */
void gt_tracetool_emit_line_of_event(struct gt_tracetool_generator *g);
void gt_tracetool_emit_line_of_output(struct gt_tracetool_generator *g);

/* Returns the suffix of an argument's name in C: "_" if the name is a keyword, else "". */
const char *gt_tracetool_c_suffix(const char *name);

#endif
