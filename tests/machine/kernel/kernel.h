/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The library of the test machines: kernels of one case each, that keep a log of their own calls
 * and print it at the end, for ../machine_test.py to compare with what was recorded.
 *
 * A case defines run(), which vCPU 0 calls, and what it wants of the hooks. Its functions are OWN
 * and begin with CALLED(themselves); functions whose names begin with k_ are the library's and in
 * no log.
 *
 * A log belongs to a guest stack, and is found by the stack pointer: each stack is STACK_SIZE
 * bytes, aligned to that, and begins with a pointer to its log. The first lane of a log has the
 * calls outside of asynchronous handlers; those of handlers are in a lane for each depth of
 * nesting, since nobody knows where one hits.
 */
#ifndef MACHINE_KERNEL_H
#define MACHINE_KERNEL_H

#define STACK_SIZE 0x4000
#define CPUS       4

/* OVERFLOW, where it is defined: an address / 4 MiB where no stack may be; a trap with a stack
 * pointer there goes on with k_emergency_stack. */

#ifndef __ASSEMBLER__
#define OWN    __attribute__((noipa, used))
#define INLINE static inline __attribute__((always_inline))

typedef unsigned long word;

enum trap { TRAP_TICK, TRAP_SOFT, TRAP_CALL, TRAP_FAULT };

#if defined(__aarch64__)
#include "aarch64.h"
#elif defined(__riscv)
#include "riscv64.h"
#else
#include "x86_64.h"
#endif

#ifndef LOGS
#define LOGS   40
#define EVENTS 65536
#endif
enum { LANES = 3, LEAVE = 0xffff };

struct log {
    const char *name;
    unsigned level; /* lane that calls go to */
    unsigned used[LANES];
    unsigned short events[LANES][EVENTS]; /* a function's address, in units of 16; or LEAVE */
};

struct thread {
    word saved[16]; /* of switch_to; RTOS: the first is the stack pointer */
    struct log *log;
    char *stack;
    void (*entry)(word);
    word argument;
    volatile int is_alive, is_running;
};

extern char k_boot_stacks[], k_image[], k_image_end[];
extern struct thread *k_current[CPUS];

/* log.c */
/* The image runs with this added to its addresses as well. */
void k_place(word offset);
struct log *k_log_new(const char *name, void *stack);
void k_panic(const char *why, word value) __attribute__((noreturn));
/* No calls are logged after this: prints the logs and cuts the power. */
void k_finish(void) __attribute__((noreturn));

/* start_ARCH.S: goes on with next on another stack, both that much further up, after a call of
 * go_there that returns there. */
void start_over(word distance, void (*next)(void), char *top) __attribute__((noreturn));
void go_there(void);

/* threads.c */
extern unsigned k_alive; /* threads that were made and have not called thread_exit */
/* A thread that is made again, after its end, is in the same memory. */
void k_thread_make(struct thread *t, const char *name, void *stack, void (*entry)(word),
                   word argument);
void k_thread_make_rtos(struct thread *t, const char *name, void *stack, void (*entry)(word),
                        word argument);
void k_thread_make_user(struct thread *t, const char *name, void *stack, void *user_stack,
                        void (*entry)(word), word argument);
/* Call with interrupts off: to another thread if there is one, or back after the last one's end. */
void schedule(void);
void thread_exit(void) __attribute__((noreturn));
void k_thread_start(void), k_user_thread_start(void);
/* Calls it with the argument on another stack, and comes back. */
void call_on_stack(word argument, void (*function)(word), void *top);
/* What schedule does but the switch. */
struct thread *k_switch_current(void);
void k_switched_current(void);
unsigned k_is_waiting(void); /* some thread is for a vCPU */
struct thread *k_boot_thread(word cpu);

/* case: */
void run(void);
void run_other(word cpu);             /* vCPUs but the first; default: nothing */
void async_tick(struct frame *f);     /* timer's interrupt */
void soft_interrupt(struct frame *f); /* default: nothing but be logged */
void k_before_trap(struct frame *f);  /* before the vector is logged; default: nothing */
void system_call(struct frame *f);
void k_fault(struct frame *f);

extern char k_emergency_stack[];

INLINE struct log **k_log_at(word sp)
{
    return (struct log **)(sp & ~(word)(STACK_SIZE - 1));
}

INLINE struct log *k_log(void)
{
    return *k_log_at(k_sp());
}

INLINE void k_append(word event)
{
    struct log *l = k_log();
    unsigned lane = l->level;

    if (lane >= LANES || l->used[lane] >= EVENTS)
        k_panic("log full", lane);
    l->events[lane][l->used[lane]++] = event;
}

INLINE void k_enter(const void *function)
{
    k_append((word)function >> 4 & 0xfff);
}

INLINE void k_leave(void)
{
    k_append(LEAVE);
}

INLINE void k_left(int *unused)
{
    (void)unused;
    k_leave();
}

#define CALLED(function)                                                                           \
    __attribute__((cleanup(k_left))) int k_unused = 0;                                             \
    k_enter(function)

/* Some time without a call. */
INLINE void k_work(unsigned n)
{
    while (n-- > 0)
        __asm__ volatile("" ::: "memory");
}

/* The vector's first interrupt, while nothing is called: an old QEMU tells nobody where vectors
 * are. */
INLINE void k_first_tick(const volatile unsigned *ticks)
{
    unsigned before = *ticks;

    k_interrupts_on();
    k_tick_after(2000);
    while (*ticks == before)
        k_work(10);
    k_interrupts_off();
}

/* The same for the interrupt that a vCPU asks itself for; they are on afterwards. */
INLINE void k_first_interrupt(void)
{
    k_interrupts_off();
    k_interrupt_self();
    k_interrupts_on();
    k_work(10);
}

INLINE word k_random(word *seed)
{
    *seed = *seed * 6364136223846793005 + 1442695040888963407;
    return *seed >> 33;
}
#endif
#endif
