/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls one function, with three arguments and with a string: for bench/guest_events.py. */
#include <stdlib.h>

__attribute__((noipa)) long three(long a, long b, long c)
{
    return a + b + c;
}

__attribute__((noipa)) long text(const char *s)
{
    return *s;
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 0, sum = 0;
    for (long i = 0; i < n; i++)
        sum += three(i, sum, 3) + text("a string of thirty-two bytes, 32");
    return sum == 42;
}
