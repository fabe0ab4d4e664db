/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loops and calls without a library; exits with status 42. */
        .text
        .globl _start
_start:
        mov $50, %ecx
1:      call add
        dec %ecx
        jnz 1b
        mov $1, %eax
        mov $42, %ebx
        int $0x80

add:
        add %ecx, total
        ret

        .data
total:  .long 0
        .section .note.GNU-stack, "", @progbits
