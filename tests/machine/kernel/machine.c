/* SPDX-License-Identifier: GPL-2.0-or-later */
/* riscv64's M mode: see riscv64.h. It logs to the stack that it interrupted. */
#ifdef __riscv
#include "kernel.h"

unsigned k_reasons[CPUS];
volatile unsigned k_may_start[CPUS] = {1};

OWN static void async_machine_timer(word cpu)
{
    CALLED(async_machine_timer);
    *(volatile word *)(CLINT + 0x4000 + 8 * cpu) = -1ul;
    __atomic_fetch_or(&k_reasons[cpu], REASON_TICK, __ATOMIC_SEQ_CST);
    __asm__ volatile("csrsi mip, 2" ::: "memory");
}

OWN static void machine_soft(word cpu)
{
    CALLED(machine_soft);
    *(volatile unsigned *)(CLINT + 4 * cpu) = 0;
    __atomic_fetch_or(&k_reasons[cpu], REASON_SOFT, __ATOMIC_SEQ_CST);
    __asm__ volatile("csrsi mip, 2" ::: "memory");
}

__attribute__((weak)) OWN void machine_call(struct frame *f)
{
    k_panic("call of M at", f->pc);
}

OWN void k_machine_trap(struct frame *f, const void *vector)
{
    word cause, is_tick, cpu, sp = f->x[2];
    struct log *l;

    /* On the first instructions of vector_trap it is here. */
    if (f->x[2] == 0)
        __asm__ volatile("csrr %0, sscratch" : "=r"(sp));
    /* An empty stack ends where the next one begins. */
    l = *k_log_at(k_sp()) = *k_log_at(sp - 1);
    __asm__ volatile("csrr %0, mcause" : "=r"(cause));
    __asm__ volatile("csrr %0, mhartid" : "=r"(cpu));
    is_tick = (long)cause < 0 && (cause & 0xff) == 7;
    l->level += is_tick;
    k_before_trap(f);
    k_enter(vector);
    if (is_tick)
        async_machine_timer(cpu);
    else if ((long)cause < 0)
        machine_soft(cpu);
    else if ((cause & 0xff) == 9)
        machine_call(f);
    else
        k_panic("trap of M at", f->pc);
    k_leave();
    l->level -= is_tick;
}
#endif
