/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For good: stores to its stack 256 times, then sleeps for 5 ms. */
        .text
        .globl _start
_start:
        xor %ecx, %ecx
1:      mov %ecx, -24(%rsp)
        inc %ecx
        test %cl, %cl
        jnz 1b
        sub $64, %rsp
        movq $0, (%rsp)
        movq $5000000, 8(%rsp)
        mov %rcx, 16(%rsp)
        mov $35, %eax
        mov %rsp, %rdi
        xor %esi, %esi
        syscall
        mov 16(%rsp), %rcx
        add $64, %rsp
        jmp 1b
        .section .note.GNU-stack, "", @progbits
