/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of what names objects: see fields.h. */
#ifndef GT_CALLS_ARGUMENTS_NAMES_H
#define GT_CALLS_ARGUMENTS_NAMES_H

#include "calls/arguments/spec_private.h"

/* The i-th row of a struct of that name, a user's or, of a kernel's struct, a built-in one; NULL:
 * there are no more. A user's rows of a struct replace the built-in ones. */
const struct gt_object_name *gt_object_name_at(const struct gt_arguments *a, bool kernel,
                                               const char *type, size_t i);

#endif
