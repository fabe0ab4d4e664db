/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QEMU's board "virt" without firmware: accesses of each size to memory and to the UART, in the
 * middle of blocks; an exception in the middle of a block; power off through the test device. The
 * data of known accesses are at `data`. No compressed instructions: each has 4 bytes.
 */
#include "riscv64.inc"
#define SCRATCH     7
#define NOWHERE     0x83000000

        .option norvc
        .option norelax
        .section .text
        .globl _start
_start:
        la t0, skip
        csrw mtvec, t0
        li t0, NOWHERE >> 2 | 0x1ff     /* 4 KiB of memory that nobody may use */
        csrw pmpaddr0, t0
        li t0, 0x98
        csrw pmpcfg0, t0
        la a1, data
        li a2, 0x1122334455667788
        .globl known
known:
        sb a2, 0(a1)
        sh a2, 2(a1)
        sw a2, 4(a1)
        sd a2, 8(a1)
        lbu a3, 0(a1)
        lhu a4, 2(a1)
        lwu a5, 4(a1)
        ld a6, 8(a1)

        li t1, UART
        li t2, 0x5a
        sb t2, SCRATCH(t1)
        addi t3, t2, 1
        lbu t4, SCRATCH(t1)
        addi t3, t3, 1
        sb t3, SCRATCH(t1)
        lbu t4, SCRATCH(t1)
        addi t3, t3, 1

        li s0, 20
again:  jal work
        addi s0, s0, -1
        bnez s0, again

        li t5, NOWHERE
        li t6, 1
        lw s1, 0(t5)                    /* faults; the handler goes on after it */
        li t6, 2
        power_off off

work:   add t3, t3, s0
        ret

        .balign 4
skip:   csrr s2, mepc
        addi s2, s2, 4
        csrw mepc, s2
        mret

        .data
        .balign 64
        .globl data
data:   .space 64
        .section .note.GNU-stack, "", @progbits
