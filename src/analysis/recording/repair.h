/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a killed recording left, made whole: records still in pool files, then the directory. */
#ifndef GT_ANALYSIS_RECORDING_REPAIR_H
#define GT_ANALYSIS_RECORDING_REPAIR_H

#include "base/error.h"
#include "format/uftrace/dir.h"

#include <glib.h>

struct gt_recording_repair_result {
    int64_t recovered; /* records copied from pool files */
    struct gt_uftrace_repair_stats repair;
    GPtrArray *texts; /* char *: a phrase for each text file that was mended */
};

/* `names`: whether maps, symbols and the like may be damaged, too; a plugin that came to its end
 * has written them. Symbols that are lost are read from their programs again, where those are still
 * what ran. Nobody may record there any more. The first error is returned, but all is tried that
 * can be; *done is filled either way, and needs gt_recording_repair_clear. Errors of
 * gt_streams_recover and gt_uftrace_dir_repair. */
int gt_recording_repair(const char *dir, bool names, struct gt_recording_repair_result *done,
                        struct gt_error *err);

void gt_recording_repair_clear(struct gt_recording_repair_result *done);

/* One phrase: "3 files, 812 records; 12 records recovered, ...". The caller frees it (g_free). */
char *gt_recording_repair_text(const struct gt_recording_repair_result *done);

#endif
