/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an argument points to, as further values behind it: the members of a struct, and what names
 * an object of the kernel ("file" of a struct file: its dentry's name).
 *
 * Their names are ARGUMENT.MEMBER. What does not fit into GT_VALUES_MOST is left out.
 */
#ifndef GT_CALLS_ARGUMENTS_FIELDS_H
#define GT_CALLS_ARGUMENTS_FIELDS_H

#include "calls/arguments/spec.h"

/* Adds the scalar members, one level deep, of the struct that the `number`-th integer argument of
 * the spec points to; none if it points to something else. The spec is one of
 * gt_arguments_by_prototype, from which arguments may have been removed. */
void gt_arguments_add_members(struct gt_arguments *a, const struct gt_type_prototypes *p,
                              const struct gt_type_prototype *item, unsigned number,
                              struct gt_value_spec *spec);

/* Adds what the user's table says of the structs that arguments point to, and of a kernel's also
 * the built-in one. */
void gt_arguments_add_names(struct gt_arguments *a, const struct gt_type_prototypes *p,
                            const struct gt_type_prototype *item, bool kernel,
                            struct gt_value_spec *spec);

/*
 * Reads a user's table, which comes before the built-in one. A line:
 *
 *     STRUCT NAME PATH
 *
 * "struct NAME" is shown with NAME=..., the member at PATH, as in C: "f_path.dentry->d_name.name".
 * '#' begins a comment. GT_E_FORMAT: "FILE:LINE: ..."; GT_E_NOT_FOUND, GT_E_IO.
 */
int gt_arguments_read_names(struct gt_arguments *a, const char *path, struct gt_error *err);

#endif
