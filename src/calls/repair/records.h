/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the records of a directory or a compact file. */
#ifndef GT_CALLS_REPAIR_RECORDS_H
#define GT_CALLS_REPAIR_RECORDS_H

#include "recording/records.h"

/* What struct gt_recording_records has as `read`. */
int gt_repair_records_read(const struct gt_recording_records *at,
                           const struct gt_recording_records_reader *reader, struct gt_error *err);

/* 1: *time is that of some first record; 0: there are no records. Errors of
 * gt_repair_records_read. */
int gt_repair_records_begin(const struct gt_recording_records *at, uint64_t *time,
                            struct gt_error *err);

#endif
