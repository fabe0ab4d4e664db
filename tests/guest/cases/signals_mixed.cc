/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A timer's signals during everything that leaves frames or stacks by other ways than returns:
 * longjmp, exceptions, coroutines; the handler itself throws, jumps and switches, too. The numbers
 * are the guest's own: see signals_mixed.py.
 *
 * libs: -lstdc++
 * again: tail-calls=off
 */
#include "guest.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <ucontext.h>

extern "C" {
enum { LEAF, JUMPER, CATCHER, THROWER, GUARDED, COROUTINE, HANDLER, ROUND, KINDS };
static volatile unsigned long counts[KINDS];
#define COUNT(kind) (counts[kind] = counts[kind] + 1)

static jmp_buf env;
static ucontext_t home, other;

F static void leaf(void)
{
    COUNT(LEAF);
}

F static void jumper(jmp_buf where, int n)
{
    COUNT(JUMPER);
    if (n == 0)
        longjmp(where, 1);
    jumper(where, n - 1);
    WORK();
}

F static void thrower(int n)
{
    COUNT(THROWER);
    if (n == 0)
        throw 1;
    thrower(n - 1);
    WORK();
}

F static void catcher(int n)
{
    COUNT(CATCHER);
    if (n > 0) {
        try {
            catcher(n - 1);
        } catch (long) {
            WORK();
        }
        WORK();
        return;
    }
    try {
        thrower(2);
    } catch (int) {
        leaf();
    }
}

F static void guarded(void)
{
    struct guard {
        ~guard()
        {
            WORK();
        }
    };
    COUNT(GUARDED);
    guard g;
    thrower(1);
}

F static void coroutine(void)
{
    for (;;) {
        COUNT(COROUTINE);
        leaf();
        swapcontext(&other, &home);
    }
}

F static void round_of_all(void)
{
    COUNT(ROUND);
    if (setjmp(env) == 0)
        jumper(env, 3);
    leaf();
    catcher(3);
    try {
        guarded();
    } catch (int) {
        leaf();
    }
    swapcontext(&home, &other);
    leaf();
}

/* The handler alone takes longer than that on a busy machine: where no round has begun since the
 * last tick, twice the time, so that there is an end. */
static void next_tick(void)
{
    enum { SHORTEST = 300, SECOND = 1000000 }; /* us */
    static unsigned long round;
    static long us;
    us = us && counts[ROUND] == round ? 2 * us : SHORTEST;
    round = counts[ROUND];
    struct itimerval once = {{0, 0}, {us / SECOND, us % SECOND}};
    setitimer(ITIMER_REAL, &once, NULL);
}

F static void on_tick(int sig)
{
    (void)sig;
    jmp_buf own;
    next_tick();
    COUNT(HANDLER);
    if (setjmp(own) == 0)
        jumper(own, 1);
#ifndef __x86_64__ /* QEMU 7.2's stack of a handler there is not aligned as the unwinder needs */
    try {
        thrower(1);
    } catch (int) {
        leaf();
    }
#endif
}
}

int main()
{
    getcontext(&other);
    other.uc_stack.ss_sp = malloc(1 << 16);
    other.uc_stack.ss_size = 1 << 16;
    makecontext(&other, coroutine, 0);
    struct sigaction sa = {};
    sa.sa_handler = on_tick;
    sigaction(SIGALRM, &sa, NULL);
    struct itimerval never = {{0, 0}, {0, 0}};
    next_tick();
    while (counts[HANDLER] < 30)
        round_of_all();
    setitimer(ITIMER_REAL, &never, NULL);
    static const char *const names[] = {"leaf",    "jumper", "catcher", "thrower",
                                        "guarded", "-",      "on_tick", "round_of_all"};
    for (int i = 0; i < KINDS; i++)
        if (i != COROUTINE)
            fprintf(stderr, "%s %lu ", names[i], counts[i]);
    fprintf(stderr, "\n");
    return 0;
}
