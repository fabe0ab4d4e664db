/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QEMU's board "virt": accesses of each size to memory and to the UART, in the middle of blocks; an
 * exception in the middle of a block; power off through PSCI. The data of known accesses are at
 * `data`.
 */
#include "aarch64.inc"

        .section .text
        .globl _start
_start:
        ldr x0, =handlers
        msr vbar_el1, x0
        isb
        ldr x1, =data
        ldr x2, =0x1122334455667788
        .globl known
known:
        strb w2, [x1]
        strh w2, [x1, #2]
        str w2, [x1, #4]
        str x2, [x1, #8]
        stp x2, x1, [x1, #16]
        ldrb w3, [x1]
        ldrh w4, [x1, #2]
        ldr w5, [x1, #4]
        ldr x6, [x1, #8]
        ldp x7, x8, [x1, #16]

        ldr x9, =UART
        mov w10, #0x5a
        str w10, [x9, #UART_BAUD]
        add x11, x10, #1
        ldr w12, [x9, #UART_BAUD]
        add x11, x11, #1
        str w11, [x9, #UART_BAUD]
        ldr w12, [x9, #UART_FLAGS]
        add x11, x11, #1

        mov x13, #20
again:  bl work
        subs x13, x13, #1
        b.ne again

        ldr x14, =NOWHERE
        mov x15, #1
        ldr x16, [x14]                  /* faults; the handler goes on after it */
        mov x15, #2
        power_off

work:   add x11, x11, x13
        ret

skip:   mrs x17, elr_el1
        add x17, x17, #4
        msr elr_el1, x17
        eret

        vectors handlers, skip

        .data
        .balign 64
        .globl data
data:   .space 64
        .section .note.GNU-stack, "", @progbits
