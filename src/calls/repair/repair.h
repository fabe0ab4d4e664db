/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Repairs a recording after a kill: first the records in pool files, then the directory. */
#ifndef GT_CALLS_REPAIR_REPAIR_H
#define GT_CALLS_REPAIR_REPAIR_H

#include "base/stream/stream.h"
#include "calls/repair/edit.h"
#include "recording/directory/dir.h"

#include <glib.h>

struct gt_repair_result {
    int64_t recovered; /* records copied from pool files */
    struct gt_streams_missing missing;
    struct gt_uftrace_repair_stats repair;
    GPtrArray *texts; /* char *: a phrase for each text file that was repaired */
};

/* Repairs the recording; no process may record there any more. `names`: also repair maps, symbols
 * and the like, which are complete if the plugin came to its end. Lost symbols are read from their
 * programs again if these are unchanged. Files that a killed process has left half-written are
 * removed. Damaged blocks but the first are reported. Returns the first error after trying
 * everything; *done is filled in any case, and needs gt_repair_clear. Errors of
 * gt_streams_recover and gt_uftrace_dir_repair. */
int gt_repair_recording(const struct gt_repair_edit *edit, bool names,
                        const struct gt_error_notices *notices, struct gt_repair_result *done,
                        struct gt_error *err);

void gt_repair_clear(struct gt_repair_result *done);

/* Returns a phrase: "3 files, 812 records; 12 records recovered, ...". The caller frees it
 * (g_free). */
char *gt_repair_text(const struct gt_repair_result *done);

#endif
