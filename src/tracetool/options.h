/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line: QEMU's options, and our own, which say how other projects name things.
 *
 * A long option may be shortened to what no other begins with. What is short for one of QEMU's
 * options stays so, whatever ours are called.
 */
#ifndef GT_TRACETOOL_OPTIONS_H
#define GT_TRACETOOL_OPTIONS_H

#include "base/error.h"
#include "base/file.h"
#include "tracetool/parser.h"

struct gt_backend;
struct gt_format;

struct gt_tracetool_options {
    bool help, list_backends, check_backends;
    const struct gt_format *format;
    const struct gt_backend *const *backends; /* until NULL */
    const char *group;
    const char *binary, *probe_prefix, *target_type, *target_name;
    const char *provider;
    const char *header, *ust_header, *runtime_header;
    const char *const *includes; /* until NULL */
    enum gt_grammar grammar;
    const char *const *inputs; /* n_inputs of them */
    size_t n_inputs;
    const char *output;

    /* private */
    const char *format_name, *backend_names, *grammar_name;
    GPtrArray *backend_list, *include_list, *operands;
    GPtrArray *strings; /* owned */
};

/* Reads and checks the command line; options point into argv. GT_E_USAGE; GT_E_NOT_FOUND: asked by
 * --check-backends, and there is one that we do not have. gt_options_free in any case. */
int gt_tracetool_options(struct gt_tracetool_options *o, int argc, char **argv,
                         struct gt_error *err);
void gt_tracetool_help(struct gt_text *out);
void gt_tracetool_options_free(struct gt_tracetool_options *o);

#endif
