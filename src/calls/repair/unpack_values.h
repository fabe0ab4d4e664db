/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to recording/: values of a compact file's records in the form that a directory has. */
#ifndef GT_CALLS_REPAIR_UNPACK_VALUES_H
#define GT_CALLS_REPAIR_UNPACK_VALUES_H

#include "base/error.h"
#include "calls/file/compact.h"

#include <glib.h>

/* Bytes that the values of a record have at most. */
enum { GT_UNPACK_VALUES_MOST = GT_VALUES_MOST * (GT_COMPACT_MAX_VALUE + 16) };

struct gt_calls;

struct gt_repair_unpack_values {
    const char *path;       /* of the recording; the caller's */
    struct gt_calls *calls; /* what values are; NULL: none have come, or it cannot be read */
    struct gt_error why;    /* that it cannot */
    GHashTable *specs;      /* struct gt_calls_record_specs by tid; NULL: none have come */
    uint64_t left_out;      /* records whose values are left out */
};

void gt_repair_unpack_values_clear(struct gt_repair_unpack_values *v); /* only `path` set is fine */
/* Writes the values of a record into `out`; how many bytes. 0: nothing says what they are, or
 * something else than these; they are left out. */
size_t gt_repair_unpack_values_put(struct gt_repair_unpack_values *v, uint32_t tid,
                                   const struct gt_compact_record *r,
                                   const struct gt_value_list *list,
                                   uint8_t out[GT_UNPACK_VALUES_MOST]);
/* Reports the omissions. */
void gt_repair_unpack_values_report(const struct gt_repair_unpack_values *v,
                                    const struct gt_error_notices *notices);

#endif
