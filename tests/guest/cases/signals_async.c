/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals that arrive anywhere: a timer's, many times, while functions call each other. The
 * numbers are the guest's own: see signals_async.py.
 */
#include "guest.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static volatile unsigned long ticks, leaves, middles;

F static void tick_leaf(void)
{
    ticks = ticks + 1;
}

F static void on_tick(int sig)
{
    (void)sig;
    tick_leaf();
}

F static void leaf(void)
{
    leaves = leaves + 1;
}

F static void middle(int n)
{
    middles = middles + 1;
    for (int i = 0; i < n; i++)
        leaf();
}

static void (*volatile pointer)(int) = middle;

int main(void)
{
    struct sigaction sa = {.sa_handler = on_tick};
    sigaction(SIGALRM, &sa, NULL);
    struct itimerval every = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &every, NULL);
    while (ticks < 15) {
        middle(20);
        pointer(3);
        char text[100] = {0};
        memset(text, 'a', 50);
        if (strlen(text) != 50)
            return 1;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    fprintf(stderr, "on_tick %lu tick_leaf %lu leaf %lu middle %lu main 1\n", ticks, ticks, leaves,
            middles);
    return 0;
}
