/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QEMU's board "virt" without firmware, each case a function of its own that begins a block: memory,
 * atomics, a load that faults in the middle of a block and is run again, a device in the middle of a
 * block, code that changes itself, vectors. own_test.py has the lines.
 */
#include "riscv64.inc"
#define NOWHERE     0x08000000

        .option nopic
        .option norvc
        .option norelax
        .section .text
        .globl _start
_start:
        la t0, handler
        csrw mtvec, t0
        la s0, data
        li s1, UART
        li t1, 0x6600                   /* floating point and vectors are on */
        csrs mstatus, t1
        j memory

        .globl memory
memory: sd t1, 0(s0)
        lw t2, 4(s0)
        addi t2, t2, 1
        sb t2, 9(s0)
        j atomics

        .globl atomics
atomics:
        amoadd.d t3, t2, (s0)
        lr.d t3, (s0)
        sc.d t4, t3, (s0)
        amoswap.w t3, t2, (s0)
        j fault

        .globl fault
fault:  li s2, NOWHERE
        addi t2, t2, 1
        ld t3, 0(s2)                    /* the handler makes s2 good */
        sd t3, 16(s0)
        j device

        .globl handler
handler:
        mv s2, s0
        mret

        .globl device
device: addi t2, t2, 1
        sb t2, 7(s1)
        lbu t3, 7(s1)
        addi t2, t2, 1
        sb t2, 7(s1)
        j changes

        .globl changes
changes:
        la t0, changed
        la t1, other
        lw t2, 0(t1)
        sw t2, 0(t0)
        fence.i
        j changed

        .globl changed
changed:
        addi t4, t4, 1
        j vectors

other:  addi t4, t4, 2

        .globl vectors
vectors:
        mv a0, s0
#ifdef VECTORS
        .option arch, +v
        vsetivli zero, 2, e64, m1, ta, ma
        vle64.v v0, (a0)
        vse32.v v0, (a0)
#endif
        j off

        .globl off
off:    power_off

        .data
        .balign 64
        .globl data
data:   .space 64
        .section .note.GNU-stack, "", @progbits
