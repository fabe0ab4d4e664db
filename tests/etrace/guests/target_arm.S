/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loops of ARM and of Thumb code that call, store and load; exits with status 42. */
        .syntax unified
        .arch armv7-a
        .text
        .arm
        .globl _start
_start:
        mov r4, #100
1:      bl sum
        blx thumb
        subs r4, r4, #1
        bne 1b
        mov r0, #42
        mov r7, #1
        svc #0
sum:    str r4, [sp, #-4]
        ldr r5, [sp, #-4]
        add r6, r6, r5
        bx lr
        .thumb
        .thumb_func
thumb:  cbz r4, 2f
        movw r3, #0x1234
        add r6, r6, r3
2:      bx lr
        .section .note.GNU-stack, "", %progbits
