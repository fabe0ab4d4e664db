/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of a program that has threads. QEMU frees what plugins have subscribed to for system
 * calls (QEMU 7.2 to 11.1: qemu_plugin_user_exit) while threads that are on their way into such a
 * callback, or to the next one, may read it. So the others are stopped before, in their next
 * callback. See host.h, gt_host_program_ends.
 */
#ifndef GT_QEMU_PROGRAM_END_H
#define GT_QEMU_PROGRAM_END_H

/* At the beginning of a callback of a system call: does not return where another thread ends the
 * program. */
void gt_program_end_check(void);

#endif
