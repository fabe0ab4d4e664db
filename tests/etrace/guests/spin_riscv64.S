/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU's board "virt" without firmware: every hart counts for good, the even ones in another loop
 * than the odd ones. */
        .option norvc
        .option norelax
        .section .text
        .globl _start
_start:
        csrr t0, mhartid
        andi t0, t0, 1
        bnez t0, 2f
        .globl even, odd
even:   addi t1, t1, 1
        j even
2:
odd:    addi t1, t1, 1
        addi t2, t2, 1
        j odd
        .section .note.GNU-stack, "", @progbits
