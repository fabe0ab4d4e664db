/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QEMU's board "virt", data big-endian: accesses of each size to `data`, then to single bytes of
 * what they wrote; power off through PSCI.
 */
#include "aarch64.inc"
#define BIG_ENDIAN_DATA (1 << 25)

        .section .text
        .globl _start
_start: mrs x0, sctlr_el1
        mov x1, #BIG_ENDIAN_DATA
        orr x0, x0, x1
        msr sctlr_el1, x0
        isb
        adrp x1, data
        add x1, x1, :lo12:data
        movz x2, #0x1122, lsl #48
        movk x2, #0x3344, lsl #32
        movk x2, #0x5566, lsl #16
        movk x2, #0x7788
        mvn x3, x2
        strb w2, [x1]
        strh w2, [x1, #2]
        str w2, [x1, #4]
        str x2, [x1, #8]
        stp x2, x3, [x1, #16]
        ldrh w4, [x1, #2]
        ldr w4, [x1, #4]
        ldr x4, [x1, #8]
        ldp x4, x5, [x1, #16]
        ldrb w4, [x1, #2]
        ldrb w4, [x1, #4]
        ldrb w4, [x1, #8]
        ldrb w4, [x1, #16]
        ldrb w4, [x1, #24]
        power_off hvc, off

        .data
        .balign 64
        .globl data
data:   .space 64
        .section .note.GNU-stack, "", @progbits
