/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For tests that fork with threads running. A thread sanitizer ends a process that forked with
 * threads running and starts one in the child: such a child does nothing under it
 * (THREADS_AFTER_FORK false), and the parent's side is still checked.
 */
#ifndef TESTS_SANITIZER_H
#define TESTS_SANITIZER_H

#if defined(__SANITIZE_THREAD__)
#define THREADS_AFTER_FORK 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THREADS_AFTER_FORK 0
#endif
#endif
#ifndef THREADS_AFTER_FORK
#define THREADS_AFTER_FORK 1
#endif

#endif
