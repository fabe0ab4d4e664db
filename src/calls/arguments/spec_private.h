/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files that make specs share. */
#ifndef GT_CALLS_ARGUMENTS_SPEC_PRIVATE_H
#define GT_CALLS_ARGUMENTS_SPEC_PRIVATE_H

#include "calls/arguments/spec.h"

#include <glib.h>

/* A row of the table of names: see fields.h. */
struct gt_arguments_object_name {
    const char *type; /* a struct's name */
    const char *name, *path;
};

struct gt_arguments {
    GArray *enums;               /* struct gt_value_enum */
    GHashTable *enum_ids;        /* name -> 1 + its index in enums */
    GPtrArray *owned;            /* items, enumerators and texts */
    GArray *names;               /* struct gt_arguments_object_name: a user's */
    struct gt_value_item *spare; /* room for items of a spec that was kept; NULL: none */
};

/* The format of a value of that type, and what comes with it: its type's name, and is_float. */
void gt_arguments_set_format(struct gt_arguments *a, const struct gt_types *types, uint32_t type,
                             struct gt_value_item *item);

/* Room for the items of a spec: GT_VALUES_MOST + 1. */
struct gt_value_item *gt_arguments_items(struct gt_arguments *a);

/* The i-th row of a struct of that name, a user's or, of a kernel's struct, a built-in one; NULL:
 * there are no more. A user's rows of a struct replace the built-in ones. */
const struct gt_arguments_object_name *
gt_arguments_object_name_at(const struct gt_arguments *a, bool kernel, const char *type, size_t i);

#endif
