/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording of calls from a uftrace directory into one compact file, and back. */
#ifndef GT_CALLS_REPAIR_COMPACT_H
#define GT_CALLS_REPAIR_COMPACT_H

#include "base/error.h"

#include <stdbool.h>

/* Writes the directory's records and text files into a new file at `path`, which gets its name when
 * it is complete; a compact recording that has the name is replaced. GT_E_NOT_FOUND, GT_E_IO,
 * GT_E_EXISTS (something else has the name), GT_E_NOMEM, GT_E_FORMAT (a TID.dat that is damaged).
 */
int gt_repair_pack(const char *dir, const char *path, const struct gt_error_notices *notices,
                   struct gt_error *err);

/* Writes the file's records and text files into a new directory, which gets its name when it is
 * complete; a uftrace directory that has the name is moved to DIR.old. A damaged part is left out
 * up to the next segment, and a notice reports it; calls open there are left or entered at that
 * time. Errors of gt_compact_file_open, gt_uftrace_dir_create and gt_file_append. */
int gt_repair_unpack(const char *path, const char *dir, const struct gt_error_notices *notices,
                     struct gt_error *err);

/* True where a compact recording begins at the path. */
bool gt_repair_is_compact(const char *path);

#endif
