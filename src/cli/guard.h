/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs what writes a file in a process of its own, so that nothing half written is left however it
 * ends: by Ctrl-C, a signal, also SIGKILL of all of it, or for want of memory. */
#ifndef GT_CLI_GUARD_H
#define GT_CLI_GUARD_H

/* Calls run(self) in a child, waits for it, and returns what it returned: an exit status. SIGINT,
 * SIGTERM and SIGHUP go to the child. If a signal ended the child, its temporary files beside
 * `path` are removed and the same signal ends this process. Where no child can be made, run is
 * called here. The process has one thread. */
int gt_cli_guard_run(const char *path, int (*run)(void *self), void *self);

#endif
