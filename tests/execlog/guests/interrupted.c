/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * More code than a small buffer for translated code holds, each block of which ends with a call or
 * a return, and interrupts among them.
 */
#include "kernel.h"

enum { ROUNDS = 6, AFTER = 1 };

static volatile unsigned ticks;

void async_tick(struct frame *f)
{
    (void)f;
    ticks++;
    k_tick_after(AFTER);
}

__attribute__((noinline)) static void many(void)
{
    __asm__ volatile(".rept 4000\n call 1f\n jmp 2f\n1: incl %0\n ret\n2:\n .endr" : "+m"(ticks));
}

void run(void)
{
    k_tick_after(AFTER);
    k_interrupts_on();
    for (unsigned i = 0; i < ROUNDS; i++)
        many();
    k_interrupts_off();
}
