/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU's board "virt" without firmware and with two harts. One runs more code than a small buffer for
 * translated code holds, so that QEMU discards all again and again. The other one runs a block of
 * one instruction, which QEMU ends, and amoadd, which QEMU emulates in C. */
#include "riscv64.inc"
#define ROUNDS      10
#define COPIES      6000

        .option norvc
        .option norelax
        .section .text
        .globl _start, alone
_start: csrr t0, mhartid
        la t1, cell
        li t2, 1
        beqz t0, 2f
        li t0, 0x6000 /* mstatus.FS */
        csrs mstatus, t0
1:      j alone
alone:  frcsr t3
        amoadd.w x0, t2, (t1)
        j 1b

2:      lw t3, 0(t1) /* the other one has begun */
        beqz t3, 2b
        li t4, ROUNDS
3:      .rept COPIES
        addi t0, t0, 1
        j 4f
4:
        .endr
        addi t4, t4, -1
        beqz t4, 5f
        la t0, 3b
        jr t0
5:      power_off off

        .data
        .balign 64
cell:   .space 64
        .section .note.GNU-stack, "", @progbits
