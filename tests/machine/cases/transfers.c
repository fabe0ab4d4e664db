/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interrupts between a call and the first instruction of what it calls, and between a return and
 * the instruction that it returns to. A store to the interrupt controller just before asks for
 * them: QEMU 7.2 takes them at the end of the block, later ones after the store; so who is called
 * or returns is logged by the handler, or else by itself. On x86_64 `sti` lets one more instruction
 * run in every QEMU.
 *
 * calls: 1000
 * anywhere: soft_interrupt machine_soft
 */
#include "kernel.h"

enum { TURNS = 30 };

static volatile word callee, returning; /* functions: 0, or has no part in the log yet */
static volatile unsigned interrupts, depth;
static void (*volatile pointer)(void);

INLINE void log_callee(void)
{
    if (callee)
        k_enter((void *)callee);
    callee = 0;
}

INLINE void log_return(void)
{
    if (returning)
        k_leave();
    returning = 0;
}

OWN void k_before_trap(struct frame *f)
{
    if (FRAME_PC(f) == callee)
        log_callee();
    if (FRAME_PC(f) - returning >= 64)
        log_return();
}

OWN static void leaf(void)
{
    CALLED(leaf);
}

OWN static void called(void)
{
    log_callee();
}

OWN static void called_calls(void)
{
    log_callee();
    leaf();
    leaf();
}

/* Calls the function that it interrupted on its first instruction. */
OWN static void handle(word unused)
{
    (void)unused;
    CALLED(handle);
    word before = callee;

    interrupts++;
    callee = (word)called_calls;
    called_calls();
    k_leave();
    callee = before;
}

#ifdef OTHER_STACK
static char stack[STACK_SIZE] __attribute__((aligned(STACK_SIZE)));

OWN void soft_interrupt(struct frame *f)
{
    (void)f;
    CALLED(soft_interrupt);
    *k_log_at((word)stack) = k_log();
    k_enter(call_on_stack);
    call_on_stack(0, handle, stack + STACK_SIZE);
    k_leave();
}
#else
OWN void soft_interrupt(struct frame *f)
{
    (void)f;
    CALLED(soft_interrupt);
    handle(0);
}
#endif

OWN static void call(void)
{
    CALLED(call);
    callee = (word)called;
    k_interrupt_self();
    called();
    k_leave();
}

OWN static void call_more(void)
{
    CALLED(call_more);
    callee = (word)called_calls;
    k_interrupt_self();
    called_calls();
    k_leave();
}

OWN static void call_pointer(void)
{
    CALLED(call_pointer);
    void (*function)(void) = pointer;

    callee = (word)called_calls;
    k_interrupt_self();
    function();
    k_leave();
}

OWN static void ask(void)
{
    k_interrupt_self();
}

OWN static void call_back(void)
{
    CALLED(call_back);
    k_enter(ask);
    returning = (word)ask;
    ask();
    log_return();
    leaf();
}

/* Caller and callee are the same. */
OWN static void recurse(void)
{
    log_callee();
    if (depth-- == 0)
        return;
    callee = (word)recurse;
    k_interrupt_self();
    recurse();
    k_leave();
}

OWN static void call_recursion(void)
{
    CALLED(call_recursion);
    callee = (word)recurse;
    depth = 5;
    recurse();
    k_leave();
}

#ifdef __x86_64__
OWN static void open_and_return(void)
{
    __asm__ volatile("sti");
}

OWN static void call_in_shadow(void)
{
    CALLED(call_in_shadow);
    k_interrupts_off();
    k_interrupt_self();
    callee = (word)called_calls;
    __asm__ volatile("sti\n\tcall *%0" ::"r"(called_calls)
                     : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory");
    k_leave();
}

OWN static void return_in_shadow(void)
{
    CALLED(return_in_shadow);
    k_interrupts_off();
    k_interrupt_self();
    k_enter(open_and_return);
    returning = (word)open_and_return;
    open_and_return();
    if (returning)
        k_panic("no interrupt after the return", 0);
    leaf();
}

INLINE void shadows(unsigned *expected)
{
    call_in_shadow();
    return_in_shadow();
    *expected += 2;
}
#else
INLINE void shadows(unsigned *expected)
{
    (void)expected;
}
#endif

OWN void run(void)
{
    CALLED(run);
    unsigned expected;

#ifdef COLD
    k_interrupts_on();
#else
    k_first_interrupt();
#endif
    expected = interrupts;
    for (unsigned i = 0; i < TURNS; i++) {
        pointer = called_calls;
#ifdef RETURN_FIRST
        call_back();
        call_pointer();
        call_more();
        call();
#else
        call();
        call_more();
        call_pointer();
        call_back();
#endif
        call_recursion();
        expected += 1 + 1 + 1 + 1 + 5;
        shadows(&expected);
        if (interrupts != expected)
            k_panic("interrupts", interrupts);
    }
}
