/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files share that make values files: see auto.h. */
#ifndef GT_CALLS_ARGUMENTS_AUTO_PRIVATE_H
#define GT_CALLS_ARGUMENTS_AUTO_PRIVATE_H

#include "calls/arguments/auto.h"
#include "calls/arguments/spec.h"

#include <glib.h>

struct gt_arguments_auto_selection {
    struct gt_filter_pattern *pattern; /* NULL: all */
    struct gt_arguments_auto_request request;
};

/* A module's functions are at `first` of the array, which grows. */
struct gt_arguments_auto_module {
    const char *path, *build_id;
    size_t first, n;
};

struct gt_arguments_auto {
    struct gt_error_notices notices;
    struct gt_arguments *specs;
    GArray *selections; /* struct gt_arguments_auto_selection */
    GArray *modules;    /* struct gt_arguments_auto_module */
    GArray *functions;  /* struct gt_value_function */
    GPtrArray *prototypes;
    GStringChunk *texts;
    struct gt_image_demangler *demangler;
    GPtrArray *own_files;                  /* of users; NULL: none */
    struct gt_type_prototypes *libc, *own; /* of tables_abi; NULL: none */
    const struct gt_abi *tables_abi;
    const struct gt_kernel *kernel; /* the last one, and its prototypes */
    const struct gt_type_prototypes *kernel_types;
};

/* Sets `libc` and `own` to the architecture's. GT_E_FORMAT: a user's file has "PATH:LINE:
 * ..."; GT_E_NOMEM, GT_E_RANGE. */
int gt_arguments_auto_load_tables(struct gt_arguments_auto *a, const struct gt_abi *abi,
                                  struct gt_error *err);

#endif
