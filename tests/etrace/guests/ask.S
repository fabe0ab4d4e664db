/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks for its number and waits for a character, after a hundred stores; exits with status 42. */
        .text
        .globl _start
_start:
        mov $100, %ecx
1:      mov %ecx, -16(%rsp)
        dec %ecx
        jnz 1b
        mov $39, %eax
        syscall
waits:  xor %eax, %eax
        xor %edi, %edi
        lea -8(%rsp), %rsi
        mov $1, %edx
        syscall
        mov $60, %eax
        mov $42, %edi
        syscall
        .section .note.GNU-stack, "", @progbits
