/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QEMU's board "virt" without firmware: the code of data/zoo.riscv64 (ZOO, at ZOO_AT) at its own
 * addresses, which the MMU maps to the same ones above RAM. Its system call leads back to machine
 * mode, which cuts the power without a load of 64 bits.
 */
#include "riscv64.inc"

        .option norelax
        .section .text
        .globl _start
_start:
        la t0, off
        csrw mtvec, t0
        li t0, -1
        csrw pmpaddr0, t0
        li t0, 0x1f                     /* all memory, for everybody */
        csrw pmpcfg0, t0
        la t0, table
        li t1, 0x200000cf               /* 1 GiB at 0x80000000: read, write, run, accessed, dirty */
        sd t1, 0(t0)
        srli t0, t0, 12
        li t1, 8 << 60                  /* sv39 */
        or t0, t0, t1
        csrw satp, t0
        sfence.vma
        li t0, 1 << 11                  /* to supervisor mode */
        csrw mstatus, t0
        li t0, ZOO_AT
        csrw mepc, t0
        li a0, 0
        mret

        .balign 4
off:    power_off

        .balign 4096
table:  .space 4096

        .section .zoo, "awx"
        .incbin ZOO
        .section .note.GNU-stack, "", @progbits
