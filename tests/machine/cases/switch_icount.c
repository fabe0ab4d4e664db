/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that switch on a host that counts instructions: it ends a block where the timer's next
 * interrupt is due, anywhere. A turn's interrupt, which is pending until after the switch, is due
 * one instruction later than that of the turn before, so one of them ends the block at the
 * instruction that loads the stack pointer.
 *
 * arches: riscv64 x86_64
 * calls: 1000
 * handlers: 200
 * machine: -icount shift=10
 */
#include "kernel.h"

enum { THREADS = 2, TURNS = 120, FIRST = 100 };

static struct thread threads[THREADS];
static char stacks[THREADS][STACK_SIZE] __attribute__((aligned(STACK_SIZE)));
static const char *const names[] = {"t0", "t1"};
static volatile unsigned ticks;

OWN void async_tick(struct frame *f)
{
    (void)f;
    CALLED(async_tick);
    ticks++;
}

OWN static void turn(word n)
{
    CALLED(turn);
    unsigned before = ticks;

    k_tick_after(n);
    schedule();
    k_interrupts_on();
    while (ticks == before)
        ;
    k_interrupts_off();
}

OWN static void thread_main(word self)
{
    CALLED(thread_main);
    for (word n = 1; n <= TURNS; n++)
        turn(FIRST + n + self);
    thread_exit();
}

OWN void run(void)
{
    CALLED(run);
    k_first_tick(&ticks);
    for (unsigned i = 0; i < THREADS; i++)
        k_thread_make(&threads[i], names[i], stacks[i], thread_main, i);
    schedule();
}
