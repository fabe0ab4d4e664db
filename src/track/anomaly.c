/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names and explanations of the doubt counters: see anomaly.h. */
#include "track/anomaly.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name, *text;
    bool harmless;
} doubts[GT_DOUBT_COUNT] = {
    [GT_DOUBT_UNWOUND] = {"unwound", "frames left by longjmp or an exception, and closed", true},
    [GT_DOUBT_SWITCHED] = {"switched", "switches to another call stack (coroutines)", true},
    [GT_DOUBT_SIGNALS] = {"signals", "signal handlers entered", true},
    [GT_DOUBT_HANDLERS] = {"handlers", "interrupts, exceptions and system calls", true},
    [GT_DOUBT_BEGUN] = {"begun", "contexts that began: threads, programs, stages of a boot", true},
    [GT_DOUBT_BIOS_RETURN] = {"bios-return",
                              "returns in a PC's BIOS that match no open call: nothing was closed",
                              false},
    [GT_DOUBT_LEFT_HANDLER] = {"left-handler",
                               "handlers that ended otherwise than by an exception return", false},
    [GT_DOUBT_ALIASED] = {"aliased",
                          "calls and returns into blocks that QEMU shares among several virtual "
                          "addresses of one page",
                          true},
    [GT_DOUBT_MISSED_RETURN] =
        {"missed-return", "returns that landed on a frame further down: those above were closed",
         false},
    [GT_DOUBT_GUESSED_FRAME] = {"guessed-frame",
                                "jumps back into a function that was active several times: the "
                                "innermost was taken",
                                false},
    [GT_DOUBT_UNKNOWN_RETURN] = {"unknown-return",
                                 "returns that match no open call: nothing was closed", false},
    [GT_DOUBT_DIVERTED_CALL] = {"diverted-call", "calls that did not arrive at their target",
                                false},
    [GT_DOUBT_UNKNOWN_SIGRETURN] = {"unknown-sigreturn",
                                    "signal handlers that ended without having been seen to begin",
                                    false},
    [GT_DOUBT_TOO_DEEP] = {"too-deep", "calls deeper than can be followed: not recorded", false},
    [GT_DOUBT_BEYOND_TASKS] = {"beyond-tasks", "threads beyond max-tasks=: followed, not recorded",
                               true},
    [GT_DOUBT_BEYOND_DEPTH] = {"beyond-depth",
                               "calls deeper than depth= records: followed, not recorded", true},
};

const char *gt_doubt_name(enum gt_doubt doubt)
{
    return doubts[doubt].name;
}

static int find(const char *name)
{
    for (int i = 0; i < GT_DOUBT_COUNT; i++)
        if (strcmp(doubts[i].name, name) == 0)
            return i;
    return -1;
}

const char *gt_doubt_text(const char *name)
{
    int i = find(name);
    return i < 0 ? NULL : doubts[i].text;
}

bool gt_doubt_is_harmless(const char *name)
{
    int i = find(name);
    return i >= 0 && doubts[i].harmless;
}
