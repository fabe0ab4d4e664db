/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Causes of triggers other than calls: what is said about the guest (messages.h), and how a program
 * ends. */
#ifndef GT_PLUGIN_UFTRACE_CAUSES_H
#define GT_PLUGIN_UFTRACE_CAUSES_H

#include "filter/state.h"

struct gt_uftrace_recorder;

/* Somebody has said this about the guest: the triggers for it. Any thread. */
void gt_recorder_cause_said(struct gt_uftrace_recorder *r, enum gt_filter_said kind,
                            const char *text);
/* At the end, on the thread that ends the guest: the triggers of a program's exit status, or of a
 * signal that has killed it, unless gt_recorder_cause_killed was called. */
void gt_recorder_cause_ended(struct gt_uftrace_recorder *r);
/* The triggers of that signal, which kills the program; on the thread that it has hit. */
void gt_recorder_cause_killed(struct gt_uftrace_recorder *r, int sig);
/* True: there are such triggers, and a signal ends the program: it will be known. */
bool gt_recorder_cause_waits(struct gt_uftrace_recorder *r);

#endif
