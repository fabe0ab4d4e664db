/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Handlers that go on with a stack of their own, as Linux has one a vCPU: what runs there belongs
 * to what was interrupted. A thread on its own stack is interrupted so as well, and switched to.
 *
 * calls: 200
 * handlers: 50
 */
#define LEAF_WORK 20
#include "walk.h"

enum { TICKS = 50, WALKS = 40 };

static struct thread thread;
static char stack[STACK_SIZE] __attribute__((aligned(STACK_SIZE)));
static char handler_stack[STACK_SIZE] __attribute__((aligned(STACK_SIZE)));
static volatile unsigned ticks;

OWN static void tick_there(word seed)
{
    CALLED(tick_there);
    walk(2, &seed);
    ticks++;
}

OWN void async_tick(struct frame *f)
{
    (void)f;
    CALLED(async_tick);
    *k_log_at((word)handler_stack) = k_log();
    k_enter(call_on_stack);
    call_on_stack(ticks, tick_there, handler_stack + STACK_SIZE);
    k_leave();
}

OWN static void walk_through(unsigned until, word seed)
{
    CALLED(walk_through);
    k_interrupts_on();
    while (ticks < until) {
        unsigned before = ticks;
        k_tick_after(1 + k_random(&seed) % 4);
        for (unsigned i = 0; ticks == before; i++)
            if (i < WALKS)
                walk(4, &seed);
    }
    k_interrupts_off();
}

OWN static void thread_main(word turn)
{
    CALLED(thread_main);
    for (unsigned i = 1; i <= 5; i++)
        walk_through(ticks + TICKS / 10, turn + i);
    thread_exit();
}

OWN void run(void)
{
    CALLED(run);
    k_first_tick(&ticks);
    walk_through(TICKS / 2, 3);
    k_thread_make(&thread, "other", stack, thread_main, 1);
    schedule();
}
