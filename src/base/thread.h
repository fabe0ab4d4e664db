/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads of this project inside a foreign process (QEMU running a guest).
 *
 * The guest must not notice them: such a thread takes no signals and has a file descriptor table of
 * its own, so that the process cannot see or close our descriptors, and its own descriptors get the
 * same numbers as without us. In the thread's table 0, 1 and 2 are descriptors that cannot be read
 * or written: what a library prints on the thread is discarded and cannot reach a trace file. Where
 * the process may have fewer than eight descriptors they are needed for files.
 */
#ifndef GT_BASE_THREAD_H
#define GT_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* True if the process has a limit of addresses (RLIMIT_AS): then even a reservation takes addresses
 * from the guest. */
bool gt_thread_addresses_limited(void);

/* Starts fn(arg) on a thread named "guesttrace", with every signal blocked and a stack of `stack`
 * bytes. The caller's signal mask is unchanged on return. Returns 0 or an errno value. */
int gt_thread_start(pthread_t *out, size_t stack, void *(*fn)(void *), void *arg);

/* A condition that is waited for up to a time of CLOCK_MONOTONIC. */
void gt_thread_cond_init(pthread_cond_t *cond);

/* Gives the calling thread a file descriptor table of its own, without the process's descriptors,
 * and a root, working directory and umask of its own: later changes by the process do not affect
 * it. Its umask is that of the first such thread. False if the kernel refuses: then the table is
 * still shared with the process. */
bool gt_thread_own_files(void);

/* A descriptor of the root of such threads that begin; -1, as at first: that of the process. */
extern int gt_thread_root;

/* Where the process's limit of descriptors has become so low that a thread with a table of its own
 * needs 0, 1 and 2 as well: frees these. On that thread, between two pieces of work. */
void gt_thread_make_room(void);

/* Makes an open directory the thread's working directory. False: the thread shares its working
 * directory with the process, or the directory may not be searched. */
bool gt_thread_enter(int dirfd);

/* The calling thread gives way to others from now on, for good: for long work without a
 * waiter. It keeps its priority if the kernel refuses. */
void gt_thread_lower_priority(void);

/* The system calls that gt_thread_own_files and gt_thread_enter use: tests replace them. They
 * return -1 and set errno on error. */
struct gt_thread_sys {
    int (*close_range)(unsigned first, unsigned last, int flags);
    int (*unshare)(int flags);
};
extern struct gt_thread_sys gt_thread_sys;

/*
 * A memory fence on all processors that run threads of this process, requested by one of them
 * (membarrier(2), private expedited). It replaces the fence of the other threads: a busy producer
 * needs no fence of its own between its stores.
 */

/* False: the kernel does not support or does not permit it. Takes no time. */
bool gt_thread_membarrier_exists(void);

/* Registers the process with the kernel, which takes 10 ms and more the first time. False: the
 * kernel does not support or does not permit it. */
bool gt_thread_membarrier_prepare(void);

/* When this returns true, each thread of the process has executed a full fence. False: no fence was
 * executed, since gt_thread_membarrier_prepare() has not succeeded. */
bool gt_thread_membarrier(void);

#endif
