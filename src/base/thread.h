/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread of ours inside a process that belongs to somebody else (QEMU running a guest).
 *
 * The guest must not notice it: it takes no signal, and it has a file descriptor table of its own,
 * so that the process sees none of our descriptors, cannot close them, and gets the numbers it
 * would get without us. In that table 0, 1 and 2 are taken by descriptors that cannot be read or
 * written: what a library prints on such a thread goes nowhere, above all not into a trace file.
 */
#ifndef GT_BASE_THREAD_H
#define GT_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* The process may have only so many addresses (RLIMIT_AS): what is but reserved is somebody's loss.
 */
bool gt_thread_addresses_limited(void);

/* Starts fn(arg) on a thread with every signal blocked and a stack of `stack` bytes, named
 * "guesttrace". The caller's signal mask is what it was on return. 0 or an errno value. */
int gt_thread_start(pthread_t *out, size_t stack, void *(*fn)(void *), void *arg);

/* Gives the calling thread a file descriptor table of its own with nothing of the process in it,
 * and a root, a working directory and a umask of its own: later changes by the process are not its,
 * and its umask is that of the first such thread. False where the kernel refuses: then the table is
 * still shared with the process. */
bool gt_thread_own_files(void);

/* Makes an open directory the thread's working directory. False: not where the process shares that,
 * or the directory may not be searched. */
bool gt_thread_enter(int dirfd);

/* The system calls behind these two, for tests that refuse them. -1 and errno on error.
 */
struct gt_thread_sys {
    int (*close_range)(unsigned first, unsigned last, int flags);
    int (*unshare)(int flags);
};
extern struct gt_thread_sys gt_thread_sys;

#endif
