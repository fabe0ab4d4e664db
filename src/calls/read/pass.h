/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to calls/: what scan and walk share. */
#ifndef GT_CALLS_READ_PASS_H
#define GT_CALLS_READ_PASS_H

#include "calls/read/recording.h"
#include "calls/read/stack.h"

/* `w` may be NULL. */
void gt_calls_pass_rules(const struct gt_calls *c, const struct gt_calls_window *w,
                         struct gt_calls_rules *out);
/* True where the part has records that the window needs. */
bool gt_calls_pass_needs(const struct gt_calls *c, const struct gt_calls_part *p,
                         const struct gt_calls_rules *r);
/* How a task ends whose last record is at `last`. */
struct gt_calls_end gt_calls_pass_end(const struct gt_calls *c, const struct gt_calls_rules *r,
                                      uint64_t last);
/* Reports that the part cannot be read from a block on: the one before number `next`. */
void gt_calls_pass_report_damage(const struct gt_calls *c, const struct gt_calls_part *p,
                                 size_t next, const struct gt_error *err);
/* Reports records that fitted nowhere, and records of unknown tasks. */
void gt_calls_pass_report(const struct gt_calls *c, uint64_t odd, uint64_t unknown);

/* As gt_calls_walk and gt_calls_scan, without filters. */
int gt_calls_pass_walk(struct gt_calls *c, const struct gt_calls_window *w,
                       int (*call)(void *self, const struct gt_call *e), void *self,
                       struct gt_error *err);
int gt_calls_pass_scan(struct gt_calls *c, const struct gt_calls_window *w,
                       const struct gt_calls_consumer *consumer, void *self, unsigned threads,
                       struct gt_error *err);

#endif
