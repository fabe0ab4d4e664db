/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names and explanations of what the tracker counts: see counters.h. */
#include "track/counters.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name, *text;
} counters[GT_COUNTERS] = {
    [GT_COUNT_UNWOUND] = {"unwound", "frames left by longjmp or an exception"},
    [GT_COUNT_SWITCHED] = {"switched", "switches to another call stack (coroutines, threads)"},
    [GT_COUNT_SIGNALS] = {"signals", "signal handlers entered"},
    [GT_COUNT_HANDLERS] = {"handlers", "interrupts, exceptions and system calls"},
    [GT_COUNT_BEGUN] = {"begun", "contexts that began: threads, programs, stages of a boot"},
    [GT_COUNT_RESETS] = {"resets", "vCPUs that were reset: calls that were open ended there"},
    [GT_COUNT_LOADED] = {"loaded",
                         "states of the machine that were loaded: open calls ended there"},
    [GT_COUNT_BEFORE] = {"began-before",
                         "returns of calls that began before the recording, or while it was off"},
    [GT_COUNT_ALIASED] = {"aliased",
                          "calls and returns in blocks that QEMU shares among several virtual "
                          "addresses of one page"},
    [GT_COUNT_BEYOND_TASKS] = {"beyond-tasks", "threads beyond max-tasks=: followed, not recorded"},
    [GT_COUNT_BEYOND_DEPTH] = {"beyond-depth",
                               "calls deeper than depth= records: followed, not recorded"},
    [GT_COUNT_GUESTS] = {"guests", "entries of virtual machines in the machine"},
    [GT_COUNT_OUTSIDE] = {"outside", "programs that the guest executed outside QEMU: not recorded"},
    [GT_RULE_LEFT_GUEST] = {"left-guest",
                            "returns of a hypervisor to the caller of what entered its guest"},
    [GT_RULE_SIGNAL_HANDLER] = {"signal-handler", "returns of signal handlers to the kernel"},
    [GT_RULE_FIRST_FUNCTION] = {"first-function",
                                "returns of a program's, thread's or coroutine's first function"},
    [GT_RULE_BEYOND_LIMIT] = {"beyond-limit", "returns of calls that were too deep to follow"},
    [GT_RULE_RETPOLINE] = {"retpoline", "returns that are a retpoline's jump or call"},
    [GT_RULE_PUSHED_CONTEXT] = {"pushed-context",
                                "returns to the address that a suspended context had pushed"},
    [GT_RULE_NEW_CONTEXT] = {"new-context", "returns that began a context"},
    [GT_RULE_OWN_ADDRESS] = {"own-address", "returns to the next instruction"},
    [GT_RULE_PUSHED_TARGET] = {"pushed-target",
                               "jumps to a function that are written as push and return"},
    [GT_RULE_EXCEPTION] = {"exception", "transfers of an exception that the unwinder asked for"},
    [GT_RULE_SUSPENDED_STACK] = {"suspended-stack", "returns on a suspended call stack"},
    [GT_RULE_OUTER_RETURN] = {"outer-return", "returns to the caller of an outer frame"},
    [GT_RULE_OUTER_FUNCTION] = {"outer-function", "returns into a function that was active"},
    [GT_RULE_RECURSIVE_FUNCTION] = {"recursive-function",
                                    "returns into a function that was active several times"},
    [GT_RULE_HANDLER_JUMP] = {"handler-jump", "returns in a handler that had called nothing"},
    [GT_RULE_PAGE_ALIAS] = {"page-alias",
                            "returns to the same page offset as the call's: a shared block"},
    [GT_RULE_FIRST_STEP] = {"first-step", "returns before the machine's first call"},
    [GT_RULE_NO_CALL] = {"no-call", "returns that match no open call"},
    [GT_ANOMALY_BIOS_RETURN] = {"bios-return",
                                "returns in a PC's BIOS that match no open call: no frame was "
                                "closed"},
    [GT_ANOMALY_LEFT_HANDLER] = {"left-handler",
                                 "handlers that ended otherwise than by an exception return"},
    [GT_ANOMALY_MISSED_RETURN] = {"missed-return",
                                  "returns that matched a frame further down: those above were "
                                  "closed"},
    [GT_ANOMALY_GUESSED_FRAME] = {"guessed-frame",
                                  "jumps back into a function that was active several times: the "
                                  "innermost was taken"},
    [GT_ANOMALY_GUESSED_STACK] = {"guessed-stack",
                                  "switches to a call stack that may have been another: its stack "
                                  "pointer is not known, or its memory was too "
                                  "long to search"},
    [GT_ANOMALY_UNKNOWN_RETURN] = {"unknown-return",
                                   "returns that match no open call: no frame was closed"},
    [GT_ANOMALY_DIVERTED_CALL] = {"diverted-call", "calls that did not arrive at their target"},
    [GT_ANOMALY_UNKNOWN_SIGRETURN] = {"unknown-sigreturn",
                                      "signal handlers that ended and were not seen to begin"},
    [GT_ANOMALY_TOO_DEEP] = {"too-deep", "calls deeper than can be followed: not recorded"},
};

const char *gt_track_counter_name(enum gt_track_counter counter)
{
    return counters[counter].name;
}

const char *gt_track_counter_text(const char *name)
{
    for (int i = 0; i < GT_COUNTERS; i++)
        if (strcmp(counters[i].name, name) == 0)
            return counters[i].text;
    return NULL;
}
