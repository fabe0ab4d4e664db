/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guests of x86_64, by SVM: see guest.h. */
#ifdef GUESTS
#include "kernel.h"
#include "x86_64.inc"
#define G_X       128
#define G_CONTROL 440
#define EXIT_CODE 0x70
#define CALLED    0x81 /* vmmcall, of 3 bytes */
#define PC        0x578

        .text
function k_guest_enter
        push %rbx
        push %rbp
        push %r12
        push %r13
        push %r14
        push %r15
        push %rdi
        mov G_CONTROL(%rdi), %rax
        mov G_X(%rdi), %rbx
        mov G_X + 8(%rdi), %rbp
        mov G_X + 16(%rdi), %rsi
        mov G_X + 32(%rdi), %rcx
        mov G_X + 40(%rdi), %rdx
        mov G_X + 48(%rdi), %r8
        mov G_X + 56(%rdi), %r9
        mov G_X + 64(%rdi), %r10
        mov G_X + 72(%rdi), %r11
        mov G_X + 80(%rdi), %r12
        mov G_X + 88(%rdi), %r13
        mov G_X + 96(%rdi), %r14
        mov G_X + 104(%rdi), %r15
        mov G_X + 24(%rdi), %rdi
        vmrun
        xchg %rdi, (%rsp)
        mov %rbx, G_X(%rdi)
        mov %rbp, G_X + 8(%rdi)
        mov %rsi, G_X + 16(%rdi)
        mov %rcx, G_X + 32(%rdi)
        mov %rdx, G_X + 40(%rdi)
        mov %r8, G_X + 48(%rdi)
        mov %r9, G_X + 56(%rdi)
        mov %r10, G_X + 64(%rdi)
        mov %r11, G_X + 72(%rdi)
        mov %r12, G_X + 80(%rdi)
        mov %r13, G_X + 88(%rdi)
        mov %r14, G_X + 96(%rdi)
        mov %r15, G_X + 104(%rdi)
        pop %rax
        mov %rax, G_X + 24(%rdi)
        mov G_CONTROL(%rdi), %rdx
        xor %eax, %eax
        cmpq $CALLED, EXIT_CODE(%rdx)
        sete %al
        lea (%rax, %rax, 2), %rcx
        add %rcx, PC(%rdx)
        xor $1, %eax
        stgi
        pop %r15
        pop %r14
        pop %r13
        pop %r12
        pop %rbp
        pop %rbx
        ret
end k_guest_enter

/* A guest's own trap. */
function vector_guest
        push %rax
        push %rcx
        push %rdx
        push %rsi
        push %rdi
        push %r8
        push %r9
        push %r10
        push %r11
        call k_guest_trap
        pop %r11
        pop %r10
        pop %r9
        pop %r8
        pop %rdi
        pop %rsi
        pop %rdx
        pop %rcx
        pop %rax
        iretq
end vector_guest
#endif
        .section .note.GNU-stack, "", @progbits
