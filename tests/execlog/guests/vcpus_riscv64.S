/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QEMU's board "virt" without firmware, with HARTS harts (-DHARTS). Each counts in s2, from its number
 * times 0x1000, in `work`; then they take turns, waiting for interrupts, and each stores to a cell of
 * its own at `step`; the last one cuts the power.
 */
#include "riscv64.inc"
#define CALLS       10
#define TURNS       20

        .option norvc
        .option norelax
        .section .text
        .globl _start
_start:
        csrr s1, mhartid
        slli s2, s1, 12
        li s3, CALLS
1:      jal work
        addi s3, s3, -1
        bnez s3, 1b

        li s4, CLINT
        slli s5, s1, 2
        add s5, s5, s4                  /* what wakes this hart */
        la s6, turn
        la s7, cells
        slli t0, s1, 3
        add s7, s7, t0
        csrwi mie, 8
        addi s8, s1, 1                  /* the next hart */
        li t0, HARTS
        bne s8, t0, 1f
        li s8, 0
1:      slli s9, s8, 2
        add s9, s9, s4                  /* what wakes it */
        li s3, TURNS
wait:   lw t0, 0(s6)
        beq t0, s1, mine
        wfi
        j wait
mine:   sw zero, 0(s5)
        .globl step
step:   sd s3, 0(s7)
        fence
        sw s8, 0(s6)
        li t0, 1
        sw t0, 0(s9)
        addi s3, s3, -1
        bnez s3, wait
        bnez s8, 2f
        jal finish
2:      wfi
        j 2b

function work
        addi s2, s2, 1
        ret
end work

function finish
        power_off
end finish

        .data
        .balign 64
        .globl cells
cells:  .space 64
turn:   .space 64
        .section .note.GNU-stack, "", @progbits
