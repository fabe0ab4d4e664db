/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interrupts that are pending when a handler returns: they are taken before the instruction that it
 * returns to, in the kernel and in user mode, some of them several times in a row.
 *
 * calls: 400
 * anywhere: soft_interrupt machine_soft
 * handlers: 80
 */
#include "kernel.h"

enum { TURNS = 20, CALL_INTERRUPT = 7, CALL_TICK, CALL_EXIT };

static struct thread thread;
static char stack[STACK_SIZE] __attribute__((aligned(STACK_SIZE)));
static char user_stack[STACK_SIZE] __attribute__((aligned(STACK_SIZE)));
static volatile unsigned more, ticks;

OWN static void leaf(void)
{
    CALLED(leaf);
}

OWN void soft_interrupt(struct frame *f)
{
    (void)f;
    CALLED(soft_interrupt);
    leaf();
    if (more > 0) {
        more--;
        k_interrupt_self();
    }
}

OWN void async_tick(struct frame *f)
{
    (void)f;
    CALLED(async_tick);
    ticks++;
}

OWN void system_call(struct frame *f)
{
    CALLED(system_call);
    if (FRAME_NUMBER(f) == CALL_EXIT)
        k_finish();
    if (FRAME_NUMBER(f) == CALL_TICK) {
        k_tick_after(50000); /* a busy host may let the machine wait before the loop */
        return;
    }
    more = FRAME_ARG(f);
    k_interrupt_self();
    leaf();
}

OWN static void user_call(word number, word argument)
{
    CALLED(user_call);
    k_system_call(number, argument);
    leaf();
}

OWN static void user_main(void)
{
    CALLED(user_main);
#ifndef COLD
    user_call(CALL_TICK, 0);
    while (ticks == 0)
        ;
#endif
    for (unsigned i = 0; i < TURNS; i++)
        user_call(CALL_INTERRUPT, i % 3);
    user_call(CALL_EXIT, 0);
}

OWN static void k_program(word unused)
{
    (void)unused;
    user_main();
}

#ifdef USER
INLINE void kernel_chain(unsigned n)
{
    (void)n;
}
#else
/* Interrupts are off until everything is logged that can be interrupted. */
OWN static void kernel_chain(unsigned n)
{
    CALLED(kernel_chain);
    k_interrupts_off();
    more = n;
    k_interrupt_self();
    leaf();
    k_interrupts_on();
    leaf();
}
#endif

OWN void run(void)
{
    CALLED(run);
#ifdef COLD
    k_interrupts_on();
#else
    k_first_interrupt();
#endif
    for (unsigned i = 0; i < TURNS; i++)
        kernel_chain(i % 4);
    k_interrupts_off();
    k_thread_make_user(&thread, "user", stack, user_stack, k_program, 0);
    schedule();
}
