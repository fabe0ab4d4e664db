/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tracker counts. An anomaly is something that it could only conclude: a trace without
 * anomalies is exact. Rules and counts are plain statistics. Names are as in guesttrace.stats
 * (anomaly.NAME, rule.NAME, count.NAME); texts are for people.
 */
#ifndef GT_TRACK_COUNTERS_H
#define GT_TRACK_COUNTERS_H

#include <stdbool.h>

enum gt_track_counter {
    GT_COUNT_UNWOUND,      /* frames closed by longjmp, exceptions */
    GT_COUNT_SWITCHED,     /* another call stack continued (coroutines) */
    GT_COUNT_SIGNALS,      /* signal handlers entered */
    GT_COUNT_HANDLERS,     /* handlers of interrupts, exceptions, system calls */
    GT_COUNT_BEGUN,        /* contexts that began: threads, programs, stages */
    GT_COUNT_RESETS,       /* vCPUs that began anew when their machine was reset */
    GT_COUNT_LOADED,       /* states of the machine that were loaded */
    GT_COUNT_BEFORE,       /* returns of calls that began while nothing was followed */
    GT_COUNT_ALIASED,      /* blocks that are shared by several virtual addresses */
    GT_COUNT_BEYOND_TASKS, /* stacks beyond those that are recorded */
    GT_COUNT_BEYOND_DEPTH, /* frames deeper than are recorded */
    GT_COUNT_GUESTS,       /* entries of virtual machines */
    GT_COUNT_OUTSIDE,      /* programs that the guest executed outside QEMU */

    /* How returns were decided that did not match their call: the rules of returns.c */
    GT_RULES,
    GT_RULE_LEFT_GUEST = GT_RULES,
    GT_RULE_SIGNAL_HANDLER,
    GT_RULE_FIRST_FUNCTION,
    GT_RULE_BEYOND_LIMIT,
    GT_RULE_RETPOLINE,
    GT_RULE_PUSHED_CONTEXT,
    GT_RULE_NEW_CONTEXT,
    GT_RULE_OWN_ADDRESS,
    GT_RULE_PUSHED_TARGET,
    GT_RULE_EXCEPTION,
    GT_RULE_SUSPENDED_STACK,
    GT_RULE_OUTER_RETURN,
    GT_RULE_OUTER_FUNCTION,
    GT_RULE_RECURSIVE_FUNCTION,
    GT_RULE_HANDLER_JUMP,
    GT_RULE_PAGE_ALIAS,
    GT_RULE_FIRST_STEP,
    GT_RULE_NO_CALL,

    GT_ANOMALIES,
    GT_ANOMALY_MISSED_RETURN = GT_ANOMALIES, /* a return matched a frame further down, without a
                                                stack switch */
    GT_ANOMALY_GUESSED_FRAME,     /* control came back to a function that is on the stack twice */
    GT_ANOMALY_GUESSED_STACK,     /* several call stacks could continue there */
    GT_ANOMALY_UNKNOWN_RETURN,    /* a return matched nothing and closed nothing */
    GT_ANOMALY_BIOS_RETURN,       /* the same in a PC's BIOS, which pushes addresses and jumps */
    GT_ANOMALY_LEFT_HANDLER,      /* a handler did not end by an exception return */
    GT_ANOMALY_DIVERTED_CALL,     /* a call did not arrive at its target */
    GT_ANOMALY_UNKNOWN_SIGRETURN, /* a signal handler ended whose beginning was not seen */
    GT_ANOMALY_TOO_DEEP,          /* frames beyond the tracker's limit, not followed */
    GT_COUNTERS,
};

static inline bool gt_track_counter_is_anomaly(enum gt_track_counter counter)
{
    return counter >= GT_ANOMALIES;
}

static inline bool gt_track_counter_is_rule(enum gt_track_counter counter)
{
    return counter >= GT_RULES && counter < GT_ANOMALIES;
}

/* "unknown-return"; static. */
const char *gt_track_counter_name(enum gt_track_counter counter);
/* A phrase for the name; NULL for an unknown name. */
const char *gt_track_counter_text(const char *name);

#endif
