/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arguments and return values of a recording: -A, -R, -a (docs/arguments.md). The plugin gets what
 * says itself what a value is (argN/FORMAT); for `auto-args` and members of structs it gets a
 * values file, OUTPUT.values, made of the prototypes of the program and its libraries, or of a
 * machine's files.
 */
#ifndef GT_CLI_RECORD_ARGUMENTS_H
#define GT_CLI_RECORD_ARGUMENTS_H

#include "cli/record/recording.h"
#include "names/image/symbol_source.h"

/* Before the run, in this order. */
/* Reads the options; sets r->arguments. GT_E_USAGE: err names the option and the expected form. */
int gt_record_arguments_read(struct gt_record_recording *r, struct gt_error *err);
/* A machine's files. */
int gt_record_arguments_add(struct gt_record_recording *r,
                            const struct gt_image_symbol_source *source, size_t n,
                            struct gt_error *err);
/* Adds a program's files; writes the values file if it is needed. Errors of gt_file_replace. */
int gt_record_arguments_write(struct gt_record_recording *r, struct gt_error *err);

/* Appends the plugin's arguments. */
void gt_record_arguments_append(const struct gt_record_recording *r, GString *out);
/* Removes the values file, and frees r->arguments. */
void gt_record_arguments_clear(struct gt_record_recording *r);

#endif
