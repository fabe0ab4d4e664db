/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A page of `guesttrace tui`: the calls that a search has found. */
#ifndef GT_CLI_TUI_HITS_H
#define GT_CLI_TUI_HITS_H

#include "cli/tui/page.h"
#include "cli/tui/search.h"

/* Calls of the functions that are sought, by their beginning. Errors of gtrace_hits. */
int gt_tui_hits_make(struct gt_cli_reading *r, const struct gt_tui_search *s,
                     struct gt_tui_page **out, struct gt_error *err);
/* The same calls in the next order: of time, duration (the longest first), task, function. */
int gt_tui_hits_sort(struct gt_cli_reading *r, struct gt_tui_page *p, struct gt_error *err);
/* Where the last line is chosen and there are more calls: adds some. */
int gt_tui_hits_more(struct gt_cli_reading *r, struct gt_tui_page *p, struct gt_error *err);

uint64_t gt_tui_hits_all(const struct gt_tui_page *p);
const struct gtrace_row *gt_tui_hits_row(const struct gt_tui_page *p, uint32_t i);
/* Arguments and result, as far as they were recorded: "(n=1) = 2", "" where there are none. They
 * are read where `now` is true, or reading them is not much work. */
const char *gt_tui_hits_values(struct gt_cli_reading *r, const struct gt_tui_page *p, uint32_t i,
                               bool now);

#endif
