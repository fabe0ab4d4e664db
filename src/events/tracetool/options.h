/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line: the options of QEMU's tracetool, and our own, for the naming rules of other
 * projects.
 *
 * A long option may be abbreviated to an unambiguous prefix. An abbreviation of one of QEMU's
 * options is never ambiguous with one of ours.
 */
#ifndef GT_EVENTS_TRACETOOL_OPTIONS_H
#define GT_EVENTS_TRACETOOL_OPTIONS_H

#include "base/error.h"
#include "base/file.h"
#include "events/tracetool/parser.h"

struct gt_tracetool_backend;
struct gt_tracetool_format;

struct gt_tracetool_options {
    bool help, list_backends, check_backends;
    const struct gt_tracetool_format *format;
    const struct gt_tracetool_backend *const *backends; /* NULL-terminated */
    const char *group;
    const char *binary, *probe_prefix, *target_type, *target_name;
    const char *provider;
    const char *header, *ust_header, *runtime_header;
    const char *const *includes; /* until NULL */
    enum gt_tracetool_grammar grammar;
    const char *const *inputs; /* n_inputs paths */
    size_t n_inputs;
    const char *output;

    /* private */
    const char *format_name, *backend_names, *grammar_name;
    GPtrArray *backend_list, *include_list, *operands;
    GPtrArray *strings; /* memory of strings */
};

/* Reads and checks the command line; strings point into argv. GT_E_USAGE; GT_E_NOT_FOUND:
 * --check-backends names an unknown backend. Call gt_tracetool_options_free in any case. */
int gt_tracetool_options(struct gt_tracetool_options *o, int argc, char **argv,
                         struct gt_error *err);
void gt_tracetool_help(struct gt_text *out);
void gt_tracetool_options_free(struct gt_tracetool_options *o);

#endif
