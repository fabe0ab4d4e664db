/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tracker counts. An anomaly is something that it could only conclude: how far not to
 * trust a trace. A trace without one is exact; the other counters are worth knowing. Names are
 * those of guesttrace.stats (anomaly.NAME, count.NAME); texts are for people.
 */
#ifndef GT_TRACK_COUNTERS_H
#define GT_TRACK_COUNTERS_H

#include <stdbool.h>

enum gt_counter {
    GT_COUNT_UNWOUND,      /* frames closed by longjmp, exceptions */
    GT_COUNT_SWITCHED,     /* another call stack went on (coroutines) */
    GT_COUNT_SIGNALS,      /* signal handlers entered */
    GT_COUNT_HANDLERS,     /* handlers of interrupts, exceptions, system calls */
    GT_COUNT_BEGUN,        /* contexts that began: threads, programs, stages */
    GT_COUNT_ALIASED,      /* blocks that are shared by several virtual addresses */
    GT_COUNT_BEYOND_TASKS, /* stacks more than are recorded */
    GT_COUNT_BEYOND_DEPTH, /* frames deeper than are recorded */
    GT_ANOMALIES,          /* from here on */
    GT_ANOMALY_MISSED_RETURN = GT_ANOMALIES, /* a return matched a frame further down, without a
                                                stack switch */
    GT_ANOMALY_GUESSED_FRAME,     /* control came back to a function that is on the stack twice */
    GT_ANOMALY_UNKNOWN_RETURN,    /* a return matched nothing and closed nothing */
    GT_ANOMALY_BIOS_RETURN,       /* the same in a PC's BIOS, which pushes addresses and jumps */
    GT_ANOMALY_LEFT_HANDLER,      /* a handler did not end by an exception return */
    GT_ANOMALY_DIVERTED_CALL,     /* a call did not arrive at its target */
    GT_ANOMALY_UNKNOWN_SIGRETURN, /* a signal handler ended that was not seen to begin */
    GT_ANOMALY_TOO_DEEP,          /* frames beyond the tracker's limit, not followed */
    GT_COUNTERS,
};

static inline bool gt_counter_is_anomaly(enum gt_counter counter)
{
    return counter >= GT_ANOMALIES;
}

/* "unknown-return"; static. */
const char *gt_counter_name(enum gt_counter counter);
/* A phrase for the name, or NULL for a name that is none. */
const char *gt_counter_text(const char *name);

#endif
