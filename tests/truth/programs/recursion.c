/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recursion: direct, mutual, Ackermann's, and with a cold part and clones. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static int is_odd(int n);

__attribute__((noinline)) static int is_even(int n)
{
    return n == 0 ? 1 : 1 & ~(2 * is_odd(n - 1) - 1);
}

__attribute__((noinline)) static int is_odd(int n)
{
    return n == 0 ? 0 : 1 & ~(2 * is_even(n - 1) - 1);
}

__attribute__((noinline)) static int ackermann(int m, int n)
{
    if (m == 0)
        return n + 1;
    return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

__attribute__((noinline, cold)) static void complain(int n)
{
    printf("%d is too many\n", n);
}

/* A loop back to the first instruction, and unlikely code that the compiler moves away. */
__attribute__((noinline)) static int spin(volatile int *n, int limit)
{
    do {
        if (__builtin_expect(*n == limit, 0)) {
            complain(*n);
            *n -= 2;
        }
    } while (--*n > 0);
    return *n;
}

int main(void)
{
    volatile int n = 20;
    printf("%d %d %d\n", fib(12), is_even(100), ackermann(2, 5));
    printf("%d\n", spin(&n, 7));
    return 0;
}
