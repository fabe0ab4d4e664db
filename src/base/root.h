/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The root folder that a process has at first. Threads with surroundings of their own (thread.h)
 * keep it where the process calls chroot(), but the threads of a child that is forked then
 * begin in the new one. So whoever forks takes a descriptor of the first root along, until the
 * child's threads have begun. That needs Linux 5.6, a free descriptor and, in the child,
 * CAP_SYS_CHROOT.
 */
#ifndef GT_BASE_ROOT_H
#define GT_BASE_ROOT_H

#include "base/worker.h"

/* At load, on any thread. */
void gt_base_root_note(void);
/* Before a fork, on its thread, with none of the worker's locks: a descriptor of the first root, in
 * the caller's table; -1: this thread's is that one, or it cannot be had. The worker was started
 * before the process changed its root. */
int gt_base_root_lend(struct gt_thread_worker *w);

#endif
