/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QEMU's board "virt", each case a function of its own that begins a block: memory, atomics, vectors,
 * a load that faults in the middle of a block and is run again, a device in the middle of a block, code
 * that changes itself. own_test.py has the lines.
 */
#include "aarch64.inc"

        .arch armv8.1-a
        .section .text
        .globl _start
_start:
        ldr x0, =handlers
        msr vbar_el1, x0
        mov x0, #0x300000               /* vectors are on */
        msr cpacr_el1, x0
        isb
        ldr x1, =data
        ldr x9, =UART
        b memory

        .globl memory
memory: str x2, [x1]
        ldr w3, [x1, #4]
        add x3, x3, #1
        strb w3, [x1, #9]
        b atomics

        .globl atomics
atomics:
        ldadd x3, x4, [x1]
        ldxr x4, [x1]
        stxr w5, x4, [x1]
        swp w3, w4, [x1]
        b vectors

        .globl vectors
vectors:
        ldr d0, [x1]
        str s0, [x1, #8]
        ld1r {v1.2d}, [x1]
        b fault

        .globl fault
fault:  ldr x6, =NOWHERE
        add x3, x3, #1
        ldr x7, [x6]                    /* the handler makes x6 good */
        str x7, [x1, #16]
        b device

        .globl handler
handler:
        mov x6, x1
        eret

        .globl device
device: add x3, x3, #1
        str w3, [x9, #UART_BAUD]
        ldr w4, [x9, #UART_BAUD]
        add x3, x3, #1
        str w3, [x9, #UART_BAUD]
        b changes

        .globl changes
changes:
        adr x10, changed
        adr x11, other
        ldr w12, [x11]
        str w12, [x10]
        dsb sy
        ic ivau, x10
        isb
        b changed

        .globl changed
changed:
        add x13, x13, #1
        b off

other:  add x13, x13, #2

        .globl off
off:    power_off
        .ltorg

        vectors handlers, handler

        .data
        .balign 64
        .globl data
data:   .space 64
        .section .note.GNU-stack, "", @progbits
