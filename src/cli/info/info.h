/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `guesttrace info` knows of a recording, and its two forms. */
#ifndef GT_CLI_INFO_INFO_H
#define GT_CLI_INFO_INFO_H

#include "calls/profile/counts.h"
#include "cli/reading.h"
#include "recording/texts/stats.h"

#include <time.h>

struct gt_info {
    struct gt_reading *reader;
    const struct gt_calls_facts *facts;
    struct gt_counts counts;
    struct gt_stats stats; /* { 0 }: the recording has none */
    uint64_t calls, events, lost;
    uint32_t deepest;
    time_t when;          /* its files were completed; 0: not known */
    char *date, *elapsed; /* as uftrace wrote them, or NULL */
};

/* Reads it all. The caller clears it, also after an error. Errors of gt_calls_scan. */
int gt_info_read(struct gt_reading *r, struct gt_info *i, struct gt_error *err);
void gt_info_clear(struct gt_info *i);

/* "compact file, version 1.0", "uftrace directory", "etrace stream". The caller frees it (g_free).
 */
char *gt_info_form(const struct gt_calls_facts *f);
/* "insn", "host", "mixed" (processes differ); NULL: not known. */
const char *gt_info_clock(const struct gt_info *i);
/* "exit status 1", "killed by signal 9 (Killed)". The caller frees it (g_free). */
char *gt_info_exit(int status);

void gt_info_text(const struct gt_info *i, struct gt_pager *p);
void gt_info_json(const struct gt_info *i, struct gt_output *out);

#endif
