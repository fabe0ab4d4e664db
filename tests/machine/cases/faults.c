/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults in the middle of blocks: loads and stores that the handler makes possible, and that are
 * repeated; loads that it skips; the first instruction of a function that is called and the one
 * that is returned to, on a page that is not there yet; on x86_64 a call that cannot push. A
 * function that was called so is logged by the handler.
 * Whether the handlers of these two are inside of what was called, and outside of what returned, or
 * not yet, is open.
 *
 * calls: 1000
 * anywhere: map_code
 * same: 10.0 11.1
 */
#include "kernel.h"

enum { TURNS = 40, THERE = 5, NOWHERE = 6 };
#define ALIAS ((THERE - RAM_GIANT) * (1l << 30))

static volatile word cell = 77;
static volatile word callee; /* has no part in the log yet */
static volatile unsigned repeated, skipped;

INLINE void log_callee(void)
{
    if (callee)
        k_enter((void *)callee);
    callee = 0;
}

OWN void k_before_trap(struct frame *f)
{
    if (FRAME_PC(f) == callee)
        log_callee();
}

OWN static void leaf(void)
{
    CALLED(leaf);
}

INLINE void map(void)
{
    k_giants[THERE] = k_giant((word)RAM_GIANT << 30);
    k_flush();
    repeated++;
}

OWN static void map_data(void)
{
    CALLED(map_data);
    map();
}

OWN static void map_code(void)
{
    CALLED(map_code);
    map();
}

OWN static void unmap_there(void)
{
    CALLED(unmap_there);
    k_giants[THERE] = 0;
    k_flush();
}

OWN static void skip(struct frame *f)
{
    CALLED(skip);
    leaf();
    k_skip_load(f);
    skipped++;
}

OWN void k_fault(struct frame *f)
{
    word giant = k_fault_address() >> 30;

    if (k_fault_address() == FRAME_PC(f))
        map_code();
    else if (giant == THERE)
        map_data();
    else if (giant == NOWHERE)
        skip(f);
    else
        k_panic("fault at", FRAME_PC(f));
}

OWN static void load(void)
{
    CALLED(load);
    unmap_there();
    if (*(volatile word *)((word)&cell + ALIAS) != 77)
        k_panic("loaded", cell);
    leaf();
}

OWN static void store(void)
{
    CALLED(store);
    unmap_there();
    leaf();
    *(volatile word *)((word)&cell + ALIAS) = 77;
}

OWN static word load_nowhere(void)
{
    CALLED(load_nowhere);
    word value = k_load((word)NOWHERE << 30);

    leaf();
    return value;
}

/* These run in the second place only. */
OWN static void there(void)
{
    log_callee();
}

OWN static void there_and_back(void (*unmap)(void))
{
    log_callee();
    unmap();
}

OWN static void call_there(void)
{
    CALLED(call_there);
    void (*volatile function)(void) = (void (*)(void))((word)there + ALIAS);

    unmap_there();
    callee = (word)function;
    function();
    k_leave();
}

OWN static void return_there(void)
{
    CALLED(return_there);
    void (*volatile function)(void (*)(void)) =
        (void (*)(void (*)(void)))((word)there_and_back + ALIAS);

    callee = (word)function;
    function(unmap_there);
    k_leave();
}

#ifdef __x86_64__
static char stacks[2][STACK_SIZE] __attribute__((aligned(STACK_SIZE)));

OWN static void pushed(void)
{
    CALLED(pushed);
    leaf();
}

OWN static void push(void)
{
    CALLED(push);
    *k_log_at((word)stacks[0]) = *k_log_at((word)stacks[1]) = k_log();
    k_fault_stack(stacks[0] + STACK_SIZE);
    unmap_there();
    __asm__ volatile("mov %%rsp, %%rbx\n\tmov %0, %%rsp\n\tcall *%1\n\tmov %%rbx, %%rsp" ::"r"(
                         (word)stacks[1] + STACK_SIZE + ALIAS),
                     "r"(pushed)
                     : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11",
                       "memory");
}
#else
INLINE void push(void)
{
    repeated++;
}
#endif

OWN void run(void)
{
    CALLED(run);
    k_paging_on();
    k_place(ALIAS);
    for (unsigned i = 1; i <= TURNS; i++) {
        load();
        store();
        call_there();
        return_there();
        push();
        if (load_nowhere() != -1ul)
            k_panic("skipped", skipped);
        if (repeated != 5 * i || skipped != i)
            k_panic("repeated", repeated);
    }
}
