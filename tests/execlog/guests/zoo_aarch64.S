/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QEMU's board "virt": the code of data/zoo.aarch64 (ZOO, at ZOO_AT) at its own addresses, which the
 * MMU maps to the same ones above RAM. Its system call leads to the vectors, which cut the power
 * without a load and without x0's change.
 */
#include "aarch64.inc"

        .section .text
        .globl _start
_start:
        adr x1, handlers
        msr vbar_el1, x1
        adr x1, table
        movz x2, #0x0705
        movk x2, #0x4000, lsl #16       /* a block at 0x40000000: inner shareable, accessed, index 1 */
        str x2, [x1]
        str x2, [x1, #8]
        msr ttbr0_el1, x1
        mov x2, #0xff00                 /* index 1: memory, write-back */
        msr mair_el1, x2
        movz x2, #0x3519                /* 39 bits, 4 KiB pages, write-back tables */
        movk x2, #0x0080, lsl #16       /* no second table */
        msr tcr_el1, x2
        isb
        mrs x2, sctlr_el1
        mov x3, #0x1005
        orr x2, x2, x3
        msr sctlr_el1, x2
        isb
        movz x2, #(ZOO_AT & 0xffff)
        movk x2, #(ZOO_AT >> 16), lsl #16
        mov x1, xzr
        mov x0, xzr
        br x2

        .balign 4096
table:  .space 4096

        vectors handlers, off
off:    power_off

        .section .zoo, "awx"
        .incbin ZOO
        .section .note.GNU-stack, "", @progbits
