/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU's board "virt" without firmware and with three harts: each loops; the first one waits for the
 * others and cuts the power. */
#include "riscv64.inc"
#define HARTS       3

        .option norvc
        .option norelax
        .section .text
        .globl _start
_start:
        li t0, 3000
1:      addi t0, t0, -1
        bnez t0, 1b
        la t1, done
        li t2, 1
        amoadd.w x0, t2, (t1)
        csrr t0, mhartid
        beqz t0, 3f
2:      wfi
        j 2b

3:      li t2, HARTS
4:      lw t3, 0(t1)
        bne t3, t2, 4b
        power_off off

        .data
        .balign 64
done:   .space 64
        .section .note.GNU-stack, "", @progbits
