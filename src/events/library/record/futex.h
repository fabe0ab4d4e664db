/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waits for a word of memory to change: async-signal-safe, and not a cancellation point. */
#ifndef GT_EVENTS_LIBRARY_RECORD_FUTEX_H
#define GT_EVENTS_LIBRARY_RECORD_FUTEX_H

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Returns when woken, when the word is not `value`, after `ms` milliseconds (negative: no limit),
 * or spuriously. False: the time is over. errno may change. */
static inline int gt_events_futex_wait(_Atomic uint32_t *word, uint32_t value, int ms)
{
    struct timespec time = {ms / 1000, (long)(ms % 1000) * 1000000};
    return syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, ms < 0 ? NULL : &time, NULL, 0) ==
               0 ||
           errno != ETIMEDOUT;
}

static inline void gt_events_futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static inline void gt_events_futex_wake_one(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

#endif
