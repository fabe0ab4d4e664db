/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal handlers in a static executable, installed with signal(), with three arguments, and one
 * that ran as a function before it was a handler.
 *
 * flags: -static -O2
 */
#include "guest.h"

#include <signal.h>
#include <stddef.h>

F static void leaf(void)
{
    WORK();
}

F static void late(int sig)
{
    (void)sig;
    leaf();
    WORK();
}

F static void info(int sig, siginfo_t *si, void *context)
{
    (void)context;
    if (si->si_signo == sig)
        leaf();
    WORK();
}

int main(void)
{
    late(0);
    signal(SIGUSR1, late);
    raise(SIGUSR1);
    late(0);
    struct sigaction sa = {.sa_sigaction = info, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGUSR2, &sa, NULL);
    raise(SIGUSR2);
    leaf();
    return 0;
}

/* calls:
main
  late
    leaf
  late
    leaf
  late
    leaf
  info
    leaf
  leaf
 */
