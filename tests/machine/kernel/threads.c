/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads of a kernel, switched as Linux does: by saving and loading what a callee saves. Which one
 * is next is thrown. The lock is held over the switch, and released by the thread that is switched
 * to.
 */
#include "kernel.h"

#ifndef THREAD_COUNT
#define THREAD_COUNT 32
#endif

unsigned k_alive;
static struct thread *threads[THREAD_COUNT];
static unsigned used, is_locked;
static word dice = 1;

INLINE void lock(void)
{
    while (__atomic_exchange_n(&is_locked, 1, __ATOMIC_ACQUIRE))
        ;
}

INLINE void unlock(void)
{
    __atomic_store_n(&is_locked, 0, __ATOMIC_RELEASE);
}

INLINE int is_known(const struct thread *t)
{
    for (unsigned i = 0; i < used; i++)
        if (threads[i] == t)
            return 1;
    return 0;
}

INLINE void add(struct thread *t, const char *name, void *stack)
{
    t->log = k_log_new(name, stack);
    t->stack = stack;
    lock();
    if (!is_known(t) && used == THREAD_COUNT)
        k_panic("too many threads", used);
    if (!is_known(t))
        threads[used++] = t;
    t->is_alive = 1;
    k_alive++;
    unlock();
}

void k_thread_make(struct thread *t, const char *name, void *stack, void (*entry)(word),
                   word argument)
{
    k_thread_prepare(t->saved, (char *)stack + STACK_SIZE, (word)entry, argument,
                     (word)k_thread_start);
    add(t, name, stack);
}

void k_thread_make_rtos(struct thread *t, const char *name, void *stack, void (*entry)(word),
                        word argument)
{
    struct frame *f = (struct frame *)((char *)stack + STACK_SIZE) - 1;

    k_frame_prepare(f, (word)(f + 1), (word)entry, argument, (word)k_thread_start);
    t->saved[0] = (word)f;
    add(t, name, stack);
}

void k_thread_make_user(struct thread *t, const char *name, void *stack, void *user_stack,
                        void (*entry)(word), word argument)
{
    struct frame *f = (struct frame *)((char *)stack + STACK_SIZE) - 1;

    k_frame_prepare_user(f, (word)user_stack + STACK_SIZE, (word)entry, argument);
    k_thread_prepare(t->saved, (char *)f, 0, 0, (word)k_user_thread_start);
    add(t, name, stack);
    *k_log_at((word)user_stack) = t->log;
}

/* The vCPU's first thread is for when there is nothing else. */
INLINE struct thread *choose(struct thread *from, word cpu)
{
    unsigned first = used ? k_random(&dice) % used : 0;

    for (unsigned i = 0; i < used; i++) {
        struct thread *t = threads[(first + i) % used];
        if (t->is_alive && (!t->is_running || t == from))
            return t;
    }
    return from->is_alive ? from : k_boot_thread(cpu);
}

unsigned k_is_waiting(void)
{
    for (unsigned i = 0; i < used; i++)
        if (threads[i]->is_alive && !threads[i]->is_running)
            return 1;
    return 0;
}

struct thread *k_switch_current(void)
{
    word cpu = k_cpu();
    struct thread *from = k_current[cpu], *to;

    lock();
    to = choose(from, cpu);
    from->is_running = 0;
    to->is_running = 1;
    k_current[cpu] = to;
    return to;
}

void k_switched_current(void)
{
    unlock();
}

/* The first call of a thread, from k_thread_start, which then calls its entry. */
OWN void thread_begin(void)
{
    CALLED(thread_begin);
    unlock();
    k_interrupts_on();
}

/* The first call of a thread that begins with a user's program. */
OWN void user_thread_begin(void)
{
    CALLED(user_thread_begin);
    unlock();
}

OWN static void switch_to(struct thread *from, struct thread *to)
{
    CALLED(switch_to);
    k_kernel_stack(to->stack + STACK_SIZE);
    k_enter(cpu_switch_to);
    cpu_switch_to(from->saved, to->saved);
    k_leave();
}

OWN void schedule(void)
{
    CALLED(schedule);
    struct thread *from = k_current[k_cpu()], *to = k_switch_current();

    if (to != from)
        switch_to(from, to);
    unlock();
}

OWN void thread_exit(void)
{
    CALLED(thread_exit);
    k_interrupts_off();
    k_current[k_cpu()]->is_alive = 0;
    __atomic_fetch_sub(&k_alive, 1, __ATOMIC_SEQ_CST);
    schedule();
    k_panic("a dead thread goes on", 0);
}
