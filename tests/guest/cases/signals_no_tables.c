/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal handlers in code that neither symbols nor unwind tables divide into functions.
 *
 * flags: -s -fno-asynchronous-unwind-tables -fno-unwind-tables
 * stats: count.signals=4
 */
#include "guest.h"

#include <signal.h>

static volatile int handled;

F static void leaf(void)
{
    handled += WORK() != 0;
}

static void on_user1(int number)
{
    (void)number;
    leaf();
    raise(SIGUSR2);
}

static void on_user2(int number)
{
    (void)number;
    leaf();
}

int main(void)
{
    signal(SIGUSR1, on_user1);
    signal(SIGUSR2, on_user2);
    on_user2(0);
    raise(SIGUSR1);
    raise(SIGUSR1);
    leaf();
    return 0;
}
