/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine that calls a few functions, and then hangs in one that calls none: see hang_test.py. */

enum { CALLS = 20 };

static volatile unsigned sum;

__attribute__((noinline)) void leaf(void)
{
    sum += 1;
}

__attribute__((noinline)) void hang(void)
{
    for (;;)
        sum += 2;
}

__attribute__((noinline, used)) void begin(void)
{
    for (unsigned i = 0; i < CALLS; i++)
        leaf();
    hang();
}
