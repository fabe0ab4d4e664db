/* SPDX-License-Identifier: GPL-2.0-or-later */
/* x86_64's tables: interrupts, task state, system calls. */
#ifdef __x86_64__
#include "kernel.h"

enum { GATES = 256, INTERRUPT = 0x8e, USER_INTERRUPT = 0xee, TASK_STATE = 0x89 };

struct gate {
    unsigned short low, selector;
    unsigned char stack, type;
    unsigned short middle;
    unsigned high, zero;
};

struct pointer {
    unsigned short limit;
    word base;
} __attribute__((packed));

struct task_state {
    unsigned zero;
    word stacks[3], zeros, emergency[7];
    unsigned more[3];
} __attribute__((packed));

extern word k_gdt[], k_kernel_sp;
extern char vector_page_fault[], vector_double_fault[], k_bad_trap[];
struct task_state k_task_states[CPUS];
static struct gate gates[GATES];

INLINE void set_gate(unsigned number, const void *handler, unsigned type, unsigned stack)
{
    word at = (word)handler;

    gates[number] =
        (struct gate){at & 0xffff, KERNEL_CODE, stack, type, at >> 16 & 0xffff, at >> 32, 0};
}

INLINE void write_msr(unsigned msr, word value)
{
    __asm__ volatile("wrmsr" ::"c"(msr), "a"((unsigned)value), "d"(value >> 32));
}

INLINE void load_tables(word cpu)
{
    word at = (word)&k_task_states[cpu];
    word *entry = k_gdt + (FIRST_TSS + 16 * cpu) / 8;
    struct pointer idt = {sizeof gates - 1, (word)gates};

    entry[0] = (sizeof(struct task_state) - 1) | (at & 0xffffff) << 16 | (word)TASK_STATE << 40 |
               (at >> 24 & 0xff) << 56;
    entry[1] = at >> 32;
    __asm__ volatile("ltr %w0" ::"r"(FIRST_TSS + 16 * cpu));
    __asm__ volatile("lidt %0" ::"m"(idt));
}

void k_kernel_stack(char *top)
{
    k_task_states[k_cpu()].stacks[0] = (word)top;
    k_kernel_sp = (word)top;
}

void k_fault_stack(char *top)
{
    k_task_states[k_cpu()].emergency[1] = (word)top;
    set_gate(14, vector_page_fault, INTERRUPT, 2);
}

OWN void k_x86_init(word cpu)
{
    for (unsigned i = 0; cpu == 0 && i < GATES; i++)
        set_gate(i, k_bad_trap, INTERRUPT, 0);
    set_gate(8, vector_double_fault, INTERRUPT, 1);
    set_gate(14, vector_page_fault, INTERRUPT, 0);
    set_gate(TICK_VECTOR, vector_tick, INTERRUPT, 0);
    set_gate(SOFT_VECTOR, vector_soft, INTERRUPT, 0);
    set_gate(0x80, vector_call, USER_INTERRUPT, 0);
    load_tables(cpu);
    k_task_states[cpu].emergency[0] = (word)k_emergency_stack + STACK_SIZE;
    write_msr(0xc0000080, 0x501); /* EFER: long mode, syscall */
    write_msr(0xc0000081, (word)(USER_DATA - 8) << 48 | (word)KERNEL_CODE << 32);
    write_msr(0xc0000082, (word)vector_syscall);
    write_msr(0xc0000084, 0x200);
    k_out(0x21, 0xff);
    k_out(0xa1, 0xff);
    K_APIC(0xf0) = 0x1ff;
    K_APIC(0x3e0) = 0xb;
    K_APIC(0x320) = TICK_VECTOR;
}
#endif
