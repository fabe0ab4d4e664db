/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU's board "virt" with a core of 32 bits: loops of ARM and of Thumb code; stores and loads of
 * each size; power off through PSCI. */
        .syntax unified
        .arch armv7-a
        .arch_extension virt
        .text
        .arm
        .globl _start
_start:
        ldr sp, =stack
        ldr r4, =1000
1:      bl sum
        blx thumb
        subs r4, r4, #1
        bne 1b
        ldr r0, =0x84000008
        .globl off
off:    hvc #0
2:      b 2b
sum:    str r4, [sp, #-4]
        ldrh r5, [sp, #-4]
        add r6, r6, r5
        bx lr
        .thumb
        .thumb_func
thumb:  cbz r4, 3f
        movw r3, #0x1234
        add r6, r6, r3
3:      bx lr

        .data
        .space 64
stack:
        .section .note.GNU-stack, "", %progbits
