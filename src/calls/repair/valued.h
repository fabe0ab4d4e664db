/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of a directory with values between them, before functions have names: by the places of
 * its values file (recording/values/spec.h). */
#ifndef GT_CALLS_REPAIR_VALUED_H
#define GT_CALLS_REPAIR_VALUED_H

#include "base/error.h"
#include "calls/repair/records.h"

struct gt_repair_valued;

/* NULL: it has no values file, or none that can be read. */
struct gt_repair_valued *gt_repair_valued_open(const char *dir);
void gt_repair_valued_close(struct gt_repair_valued *v); /* NULL is fine */

/* Reads the task's file, up to where it is damaged. Errors of the reader; GT_E_IO. */
int gt_repair_valued_read(struct gt_repair_valued *v, uint32_t tid,
                          const struct gt_recording_records_reader *reader, struct gt_error *err);

#endif
