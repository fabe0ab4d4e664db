/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Repairing the records of a compact file after a kill or a full disk: what gt_uftrace_dir_repair
 * reads and adds, in place of TID.dat files.
 */
#ifndef GT_CALLS_FILE_MEND_H
#define GT_CALLS_FILE_MEND_H

#include "base/error.h"
#include "recording/directory/dir.h"

struct gt_compact_mend;

/* Reads all records of the file, or one packer's; `dir`: the directory of packers' files
 * (writer.h). Records of damaged blocks are missing: *damage, which must not be NULL, then has the
 * first error, the others are reported. Errors of gt_compact_file_open; GT_E_NOMEM. */
int gt_compact_mend_open(const char *file, const char *dir, uint32_t packer,
                         const struct gt_error_notices *notices, struct gt_compact_mend **out,
                         struct gt_error *damage, struct gt_error *err);
/* For struct gt_uftrace_repair_options. */
struct gt_uftrace_repair_records gt_compact_mend_records(struct gt_compact_mend *m);
/* Writes the added records, as blocks of the packers whose tasks they are, and frees it. GT_E_IO,
 * GT_E_NOMEM. */
int gt_compact_mend_close(struct gt_compact_mend *m, struct gt_error *err);

#endif
