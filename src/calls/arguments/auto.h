/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values of whole files (auto-args): the functions of programs, libraries, kernels and kernel
 * modules that are selected, joined with their prototypes, as a values file
 * (recording/values/spec.h).
 *
 * Prototypes come from DWARF (of the file, or of its separate debug file), of kernels from BTF; a
 * function that has none from a user's declarations, by its name, and one of the C library from a
 * table (guest/types/libc.h).
 */
#ifndef GT_CALLS_ARGUMENTS_AUTO_H
#define GT_CALLS_ARGUMENTS_AUTO_H

#include "base/error.h"
#include "filter/pattern.h"
#include "names/image/symbol_source.h"
#include "recording/values/spec.h"

struct gt_arguments_auto;

/* The values wanted of the functions that a pattern selects. */
struct gt_arguments_auto_request {
    bool all;        /* all arguments and the result; without a prototype words of the ABI */
    uint32_t fields; /* bit N: argument N, and the members of the struct that it points to */
};

/* Never NULL. Notices name the files whose types are damaged. */
struct gt_arguments_auto *gt_arguments_auto_new(const struct gt_error_notices *notices);
void gt_arguments_auto_free(struct gt_arguments_auto *a);

/* Selects functions; a NULL pattern: all that have a prototype. Several add up. GT_E_USAGE,
 * GT_E_RANGE: *at is the offset of the error in the pattern. */
int gt_arguments_auto_select(struct gt_arguments_auto *a, const char *pattern,
                             enum gt_filter_match match,
                             const struct gt_arguments_auto_request *request, size_t *at,
                             struct gt_error *err);
/* Reads a user's table of what names objects, before files are added: gt_arguments_read_names. */
int gt_arguments_auto_read_names(struct gt_arguments_auto *a, const char *path,
                                 struct gt_error *err);
/* Reads a user's C declarations, before files are added: guest/types/declarations.h. An error
 * in them is reported with the first file that is added. */
int gt_arguments_auto_read_prototypes(struct gt_arguments_auto *a, const char *path,
                                      struct gt_error *err);
/* True: something was selected. */
bool gt_arguments_auto_wanted(const struct gt_arguments_auto *a);

/* Adds the selected functions of a file. `in_process`: their addresses count from the file's load
 * base, as addresses of a program's modules do; else from the part's beginning, as in a code map. A
 * kernel comes before its modules, and stays until the last of them was added. Errors: GT_E_NOMEM,
 * and of users' declarations GT_E_FORMAT, GT_E_RANGE; a file without prototypes, or with damaged
 * ones, is not an error. */
int gt_arguments_auto_add(struct gt_arguments_auto *a, const struct gt_image_symbol_source *source,
                          bool in_process, struct gt_error *err);

/* Adds the system calls that QEMU reports of programs for the target, of all names. GT_E_NOMEM. */
int gt_arguments_auto_add_syscalls(struct gt_arguments_auto *a, const char *target,
                                   struct gt_error *err);

/* Functions that have values so far. */
size_t gt_arguments_auto_count(const struct gt_arguments_auto *a);
/* Appends the values file. Errors of gt_values_write. */
int gt_arguments_auto_write(const struct gt_arguments_auto *a, struct gt_text *out,
                            struct gt_error *err);

#endif
