/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program that a signal ends, that of its argument, in the call of last(). */
#include <signal.h>
#include <stdlib.h>

static volatile int sum;

__attribute__((noinline)) static void work(void)
{
    sum++;
}

__attribute__((noinline)) static void last(int signal_number)
{
    if (signal_number == SIGSEGV)
        *(volatile int *)(long)sum = 1;
    else
        abort();
}

int main(int argc, char **argv)
{
    for (int i = 0; i < 100; i++)
        work();
    sum = 0;
    last(argc > 1 ? atoi(argv[1]) : 0);
    return 0;
}
