/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program of a signal, a recursion that is left by longjmp(), and a call: for cases that differ
 * in where QEMU puts the program. */
#include "guest.h"

#include <setjmp.h>
#include <signal.h>

static jmp_buf env;

F static void leaf(void)
{
    WORK();
}

F static void on_signal(int sig)
{
    (void)sig;
    leaf();
}

F static void down(int n)
{
    if (n == 0)
        longjmp(env, 1);
    down(n - 1);
    WORK();
}

int main(void)
{
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    if (setjmp(env) == 0)
        down(2);
    leaf();
    return 0;
}
