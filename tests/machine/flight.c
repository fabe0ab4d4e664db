/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine that calls functions for a while, and then panics: see flight_test.py. */

enum { ROUNDS = 150000 };

static volatile unsigned sum;

__attribute__((noinline)) void leaf(void)
{
    sum += 1;
}

__attribute__((noinline)) void step(unsigned i)
{
    for (unsigned k = 0; k < (i * 2654435761u >> 30); k++)
        leaf();
}

__attribute__((noinline)) void panic(void)
{
    for (;;)
        sum += 2;
}

__attribute__((noinline)) void last_step(void)
{
    leaf();
    panic();
}

__attribute__((noinline, used)) void begin(void)
{
    for (unsigned i = 0; i < ROUNDS; i++)
        step(i);
    last_step();
}
