/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Virtual machines of the test kernels (guest.c, guest_ARCH.S), one vCPU each, whose memory is the
 * machine's own: for kernels that are built with GUESTS. On aarch64 the kernel is at EL2 then, or
 * at EL1 with NVHE, which has EL2 for the entry alone.
 */
#ifndef MACHINE_GUEST_H
#define MACHINE_GUEST_H
#include "kernel.h"

struct guest {
    word host[16]; /* while the guest runs: of who entered it */
    word x[32];    /* the guest's registers; x86: rbx, rbp, rsi, rdi, rcx, rdx, r8 to r15 */
    word pc, sp, status;
    word vector;  /* aarch64: where its own traps go to */
    word tables;  /* aarch64: the second stage of translation */
    word own[2];  /* aarch64, riscv64: where its own trap returns to, and its status then */
    word control; /* x86: its control block */
};

void k_guest_init(struct guest *g, unsigned number, word entry, word top, word argument);
/* Runs the guest until it leaves; interrupts are off. Result: 0 where it has called the hypervisor,
 * 1 where an interrupt waits for the kernel. */
word k_guest_enter(struct guest *g);

/* A guest's own traps are calls of vector_guest and of this. */
extern char vector_guest[];
OWN void k_guest_trap(void);

/* Code of guests: its first step, a call of the hypervisor, a trap of its own. */
#if defined(__aarch64__)
INLINE void k_guest_prepare(void)
{
}

INLINE void k_guest_call(word number)
{
    register word x0 __asm__("x0") = number;

    __asm__ volatile("hvc #0" : "+r"(x0)::"memory");
}

INLINE void k_guest_trap_self(void)
{
    __asm__ volatile("svc #0" ::: "memory");
}
#elif defined(__riscv)
INLINE void k_guest_prepare(void)
{
    __asm__ volatile("csrw stvec, %0" ::"r"(vector_guest));
}

INLINE void k_guest_call(word number)
{
    register word a0 __asm__("a0") = number;

    __asm__ volatile("ecall" : "+r"(a0)::"memory");
}

INLINE void k_guest_trap_self(void)
{
    __asm__ volatile(".option push\n\t.option norvc\n\tebreak\n\t.option pop" ::: "memory");
}
#else
INLINE void k_guest_prepare(void)
{
}

INLINE void k_guest_call(word number)
{
    __asm__ volatile("vmmcall" : "+a"(number)::"memory");
}

INLINE void k_guest_trap_self(void)
{
    __asm__ volatile("int $0x81" ::: "memory");
}
#endif
#endif
