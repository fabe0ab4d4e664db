/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads of a kernel, switched as Linux does. */
#include "kernel.h"

void k_thread_start(void);

/* The first call of a thread, from k_thread_start, which then calls its entry. */
OWN void thread_begin(void)
{
    CALLED(thread_begin);
    k_interrupts_on();
}

void k_thread_make(struct thread *t, const char *name, void *stack, void (*entry)(word),
                   word argument)
{
    t->log = k_log_new(name, stack);
    t->stack = stack;
    t->is_alive = 1;
    k_thread_prepare(t->saved, (char *)stack + STACK_SIZE, (word)entry, argument,
                     (word)k_thread_start);
}

OWN void switch_to(struct thread *from, struct thread *to)
{
    CALLED(switch_to);
    k_enter(cpu_switch_to);
    cpu_switch_to(from->saved, to->saved);
    k_leave();
}
