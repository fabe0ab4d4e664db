/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For commands that do not yet read through gtrace/gtrace.h alone (docs/decisions/libgtrace.md). */
#ifndef GT_GTRACE_BRIDGE_H
#define GT_GTRACE_BRIDGE_H

struct gt_calls;
struct gtrace;

/* What is open, as the readers know it; it lives as long as `t`. */
struct gt_calls *gt_gtrace_calls(struct gtrace *t);

#endif
