/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tracker was not told and had to conclude, each kind counted: how a user knows how far to
 * trust a trace. Names are what guesttrace.stats says (doubt.NAME); texts are for people.
 */
#ifndef GT_TRACK_ANOMALY_H
#define GT_TRACK_ANOMALY_H

#include <stdbool.h>

enum gt_doubt {
    GT_DOUBT_UNWOUND,        /* no doubt but worth knowing: frames closed by longjmp, exceptions */
    GT_DOUBT_SWITCHED,       /* likewise: another call stack went on (coroutines) */
    GT_DOUBT_SIGNALS,        /* likewise: signal handlers entered */
    GT_DOUBT_HANDLERS,       /* likewise: handlers of interrupts, exceptions, system calls */
    GT_DOUBT_BEGUN,          /* likewise: contexts that began: threads, programs, stages */
    GT_DOUBT_ALIASED,        /* likewise: blocks that are shared by several virtual addresses */
    GT_DOUBT_MISSED_RETURN,  /* a return landed on a frame further down, without a stack switch */
    GT_DOUBT_GUESSED_FRAME,  /* control came back to a function that is on the stack more than once
                              */
    GT_DOUBT_UNKNOWN_RETURN, /* a return matched nothing and closed nothing */
    GT_DOUBT_BIOS_RETURN,    /* the same in a PC's BIOS, which pushes addresses and jumps */
    GT_DOUBT_LEFT_HANDLER,   /* a handler did not end by an exception return */
    GT_DOUBT_DIVERTED_CALL,  /* a call did not arrive at its target */
    GT_DOUBT_UNKNOWN_SIGRETURN, /* a signal handler ended that was not seen to begin */
    GT_DOUBT_TOO_DEEP,          /* frames beyond the tracker's limit, not followed */
    GT_DOUBT_BEYOND_TASKS,      /* the same: stacks more than are recorded */
    GT_DOUBT_BEYOND_DEPTH,      /* no doubt, but told: frames deeper than are recorded */
    GT_DOUBT_COUNT,
};

/* "unknown-return"; static. */
const char *gt_doubt_name(enum gt_doubt doubt);
/* A sentence for the name, or NULL for a name that is none. */
const char *gt_doubt_text(const char *name);
/* True for the kinds that are only information: a trace with nothing else is exact. */
bool gt_doubt_is_harmless(const char *name);

#endif
