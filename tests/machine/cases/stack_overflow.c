/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recursion that goes beyond its thread's stack: the trap cannot use that stack, goes on with
 * another one, ends the thread, and switches to one whose calls are not harmed. What was open in
 * the thread stays so. The recursion is logged by the handler, as deep as it was.
 *
 * defines: OVERFLOW=0x500
 * calls: 300
 * reuse: yes
 * same: 7.2 10.0 11.1
 */
#include "kernel.h"

enum { THREADS = 3, THERE = 5, PLACE = 24 };
#define TOP ((word)OVERFLOW << 22)

static struct thread bad, good;
static char stack[STACK_SIZE] __attribute__((aligned(STACK_SIZE)));
static volatile word table[512] __attribute__((aligned(4096)));
static volatile unsigned depth, is_cold;
extern char k_dig_counted[];

OWN static void leaf(void)
{
    CALLED(leaf);
}

OWN static word dig(word n)
{
    volatile word room[12];

    room[0] = n;
    depth++;
    __asm__ volatile(".globl k_dig_counted\nk_dig_counted:" ::: "memory");
    return dig(n + 1) + room[0];
}

/* The vector's first fault is in the middle of a block. */
#ifdef __x86_64__
OWN static void warm_up(void)
{
    CALLED(warm_up);
    __asm__ volatile("mov %%rsp, %%rbx\n\tmov %0, %%rsp\n\tlea 1f(%%rip), %%r9\n\tpush %%rax\n1:\t"
                     "mov %%rbx, %%rsp" ::"r"(TOP + 256)
                     : "rbx", "r9", "r10", "memory");
}
#else
OWN static void warm_up(void)
{
    CALLED(warm_up);
    k_load(TOP);
}
#endif

OWN void k_before_trap(struct frame *f)
{
    if (is_cold)
        return;
    unsigned calls = depth + (FRAME_PC(f) - (word)dig < (word)k_dig_counted - (word)dig);

    if (calls < 100)
        k_panic("not so deep", calls);
    for (unsigned i = 0; i < calls; i++)
        k_enter(dig);
}

OWN static void warm(struct frame *f)
{
    CALLED(warm);
    k_skip_load(f);
    is_cold = 0;
}

OWN static void end_bad(void)
{
    CALLED(end_bad);
    leaf();
    thread_exit();
}

OWN void k_fault(struct frame *f)
{
    if (is_cold)
        warm(f);
    else
        end_bad();
}

OWN static void bad_main(word self)
{
    CALLED(bad_main);
    k_interrupts_off();
    depth = 0;
    *k_log_at((word)k_emergency_stack) = k_log();
    leaf();
    dig(self);
}

OWN static void good_main(word self)
{
    CALLED(good_main);
    k_interrupts_off();
    for (unsigned i = 0; i < 10 + self; i++) {
        leaf();
        schedule();
    }
    thread_exit();
}

/* The bad threads' stack is at the beginning of what is mapped, 4 MiB after the beginning of THERE.
 */
OWN static void map_stacks(void)
{
    CALLED(map_stacks);
    table[2] = k_giant(((word)RAM_GIANT << 30) + PLACE * (2ul << 20));
    k_giants[THERE] = k_table((word)table);
    k_flush();
}

OWN void run(void)
{
    CALLED(run);
    k_paging_on();
    map_stacks();
    is_cold = 1;
    *k_log_at((word)k_emergency_stack) = k_log();
    warm_up();
    for (unsigned i = 0; i < THREADS; i++) {
        k_thread_make(&bad, "bad", (char *)TOP + (4ul << 20), bad_main, i);
        k_thread_make(&good, "good", stack, good_main, i);
        schedule();
    }
}
