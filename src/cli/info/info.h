/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `guesttrace info` knows of a recording, and its two forms. */
#ifndef GT_CLI_INFO_INFO_H
#define GT_CLI_INFO_INFO_H

#include "cli/opened.h"

#include <time.h>

struct gt_cli_info {
    struct gtrace *trace;
    struct gtrace_facts facts;
    struct gtrace_counts *counts; /* by task */
    struct gtrace_counts all;
    time_t when; /* its files were completed; 0: not known */
};

/* Reads it all. The caller clears it, also after an error. Errors of gtrace_counts. */
int gt_cli_info_read(struct gtrace *t, struct gt_cli_info *i, struct gt_error *err);
void gt_cli_info_clear(struct gt_cli_info *i);

/* "compact file, version 1.0", "uftrace directory", "etrace stream". The caller frees it (g_free).
 */
char *gt_cli_info_form(const struct gtrace_facts *f);
/* "insn", "host", "mixed" (processes differ); NULL: not known. */
const char *gt_cli_info_clock(const struct gt_cli_info *i);
/* "exit status 1", "killed by signal 9 (Killed)". The caller frees it (g_free). */
char *gt_cli_info_exit(int status);

/* What the library cannot fail to say, of an index below its number. */
struct gtrace_task gt_cli_info_task(const struct gt_cli_info *i, uint32_t index);
struct gtrace_process gt_cli_info_process(const struct gt_cli_info *i, uint32_t index);
struct gtrace_statistic gt_cli_info_statistic(const struct gt_cli_info *i, size_t index);
/* The value of "error", the recorder's sentence; NULL: there is none. */
const char *gt_cli_info_error(const struct gt_cli_info *i);

/* What kinds of statistics are called, before their names. */
#define GT_INFO_ANOMALY "anomaly."
#define GT_INFO_RULE    "rule."
#define GT_INFO_COUNT   "count."

void gt_cli_info_text(const struct gt_cli_info *i, struct gt_cli_pager *p);
void gt_cli_info_json(const struct gt_cli_info *i, struct gt_output *out);

#endif
