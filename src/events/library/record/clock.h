/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CLOCK_MONOTONIC in nanoseconds, read in the time that rdtsc takes.
 *
 * If the kernel's clock source is the time stamp counter, each thread extrapolates from its own
 * reading of both clocks, which it repeats after GT_EVENTS_CLOCK_STALE_NS. The rate is that of the
 * last interval between two readings, so the error is the change of the rate since then: below a
 * microsecond, in practice below 100 ns. A thread's times never decrease. Otherwise clock_gettime()
 * is called.
 */
#ifndef GT_EVENTS_LIBRARY_RECORD_CLOCK_H
#define GT_EVENTS_LIBRARY_RECORD_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#define GT_EVENTS_TSC 1
static inline uint64_t gt_events_ticks(void)
{
    return __rdtsc();
}
#else
#define GT_EVENTS_TSC 0
static inline uint64_t gt_events_ticks(void)
{
    return 0;
}
#endif

enum { GT_EVENTS_CLOCK_STALE_NS = 10 * 1000 * 1000 };

/* The clock of one thread. All zero: the first use reads the clock. */
struct gt_events_clock {
    uint64_t ticks, ns; /* the reading that times are extrapolated from */
    uint64_t rate;      /* 2^32 * nanoseconds / ticks */
    uint64_t stale;     /* ticks after which the reading is stale; 0: always */
    uint64_t last;      /* the last time returned */
    uint64_t true_ticks,
        true_ns; /* the reading itself; `ns` may be later, so that times never decrease */
};

static inline uint64_t gt_events_system_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The slow path, for a stale reading. `nested`: called in a signal handler; the reading is not
 * changed. */
uint64_t gt_events_clock_slow(struct gt_events_clock *c, bool nested) __attribute__((cold));

static inline uint64_t gt_events_clock_now(struct gt_events_clock *c, bool nested)
{
    uint64_t ticks = gt_events_ticks() - c->ticks, now;
    if (__builtin_expect(ticks < c->stale, 1))
        now = c->ns + ((ticks * c->rate) >> 32);
    else
        now = gt_events_clock_slow(c, nested);
    if (now < c->last)
        now = c->last;
    c->last = now;
    return now;
}

#endif
