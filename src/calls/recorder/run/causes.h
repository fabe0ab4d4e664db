/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Causes of triggers other than calls: what `guesttrace record` says about the guest while it runs,
 * and how a program ends. The recording's first process listens (qemu/support/messages.h), where
 * it has a flight recorder or was promised such messages (arguments console=on, qmp=on).
 */
#ifndef GT_CALLS_RECORDER_RUN_CAUSES_H
#define GT_CALLS_RECORDER_RUN_CAUSES_H

#include "filter/state.h"

struct gt_recorder;

/* At load, when nothing can fail any more; at the end, before the open calls are ended. */
void gt_run_listen(struct gt_recorder *r);
void gt_run_listen_end(struct gt_recorder *r);
/* Somebody has said this about the guest: the triggers for it. Any thread. */
void gt_run_cause_said(struct gt_recorder *r, enum gt_filter_said kind, const char *text);
/* At the end, on the thread that ends the guest: the triggers of a program's exit status, or of a
 * signal that has killed it, unless gt_run_cause_killed was called. */
void gt_run_cause_ended(struct gt_recorder *r);
/* The triggers of that signal, which kills the program; on the thread that it has hit. */
void gt_run_cause_killed(struct gt_recorder *r, int sig);
/* True: there are such triggers, and a signal ends the program: it will be known. */
bool gt_run_cause_waits(struct gt_recorder *r);

#endif
