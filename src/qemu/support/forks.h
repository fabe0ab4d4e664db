/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many processes a recorded program forks that are not recorded themselves: its children, and
 * theirs. User mode. */
#ifndef GT_QEMU_SUPPORT_FORKS_H
#define GT_QEMU_SUPPORT_FORKS_H

#include "base/error.h"

/* Counts from now on; the tool's handlers are called around each fork (pthread_atfork).
 * GT_E_NOMEM, GT_E_IO. */
int gt_forks_watch(void (*before)(void), void (*parent)(void), void (*child)(void),
                   struct gt_error *err);
/* After a fork, in the process that forked: in a child as well. */
void gt_forks_add(void);
/* Adds to the number of those that go on as a program that is recorded. */
void gt_forks_executed(int more);
/* Prints how many forks were counted since the last report, if any. */
void gt_forks_report(void);

#endif
