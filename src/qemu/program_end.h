/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of a program that has threads. QEMU frees what plugins have subscribed to for system
 * calls (QEMU 7.2 to 11.1: qemu_plugin_user_exit) while threads that are on their way into such a
 * callback, or to the next one, may read it. So the others are stopped before, in their next
 * callback. See host.h, gt_host_program_ends.
 *
 * From QEMU 8 on it does the same where a program's fatal signal ends it. Before, on most
 * architectures, it says which signal that is: abnormal_exit.c.
 */
#ifndef GT_QEMU_PROGRAM_END_H
#define GT_QEMU_PROGRAM_END_H

/* At the beginning of a callback of a system call: does not return where another thread ends the
 * program. */
void gt_qemu_program_end_check(void);

/* Once, in user mode: abnormal_exit.c calls the functions below. */
void gt_qemu_program_end_watch_signals(void);
/* Before QEMU frees anything at a fatal signal of the program, on its thread, while all that runs
 * code is stopped: as gt_host_program_ends(). */
void gt_qemu_program_end_by_signal(void);

/* In the exit event. */
void gt_qemu_program_end_exited(void);
/* Where QEMU kills itself. On a thread that had no exit event, QEMU itself has crashed: most likely
 * because another thread ends the program, which gets the time to do so. */
void gt_qemu_program_end_let_exit(void);

#endif
