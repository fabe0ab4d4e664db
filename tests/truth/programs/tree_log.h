/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program's own log of its calls: each function says ENTER() and LEAVE(), and the program sets
 * log_stack before it goes to another call stack. PRINT_LOG() prints a tree for each stack,
 * indented by how many calls are open, after a line `stack`.
 */
#ifndef TESTS_TRUTH_TREE_LOG_H
#define TESTS_TRUTH_TREE_LOG_H

#include <stdio.h>

#define F __attribute__((noinline, noclone))

enum { LOG_STACKS = 64, LOG_CALLS = 65536 };

static struct {
    const char *name;
    int stack, depth;
} log_calls[LOG_CALLS];
static int log_n, log_stack, log_depth[LOG_STACKS];

static inline __attribute__((always_inline)) void log_enter(const char *name)
{
    if (log_n == LOG_CALLS)
        __builtin_trap();
    log_calls[log_n].name = name;
    log_calls[log_n].stack = log_stack;
    log_calls[log_n++].depth = log_depth[log_stack]++;
}

#define ENTER() log_enter(__func__)
#define LEAVE() ((void)log_depth[log_stack]--)

#define PRINT_LOG()                                                                                \
    for (int s_ = 0; s_ < LOG_STACKS; s_++) {                                                      \
        puts("stack");                                                                             \
        for (int i_ = 0; i_ < log_n; i_++)                                                         \
            if (log_calls[i_].stack == s_)                                                         \
                printf("%*s%s\n", 2 * log_calls[i_].depth, "", log_calls[i_].name);                \
    }

#endif
