/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU's riscv64 board "virt" without firmware: M mode is the top. A negative number in a0 goes up to
 * there and cuts the power. User may not execute guarded_a and guarded_b until it has tried to: each
 * call is interrupted between the jump and the callee's first instruction. */
#define FUNCTION_ALIGN 1 /* one follows the other */
#include "riscv64.inc"
#define USER_ECALL   (1 << 8)
#define FETCH_FAULT  1
#define MPP          0x1800
#define MPP_S        0x800
#define SPP          0x100
/* Two pages without access, and all the rest with all. */
#define PROTECTION   0x1f1818
.macro guard register, page
        la t0, \page
        srli t0, t0, 2
        ori t0, t0, 0x1ff
        csrw \register, t0
.endm

        .section .start, "ax"
function _start
        la sp, top_stack
        call top_main
        csrw mscratch, sp
        la t0, top_vector
        csrw mtvec, t0
        guard pmpaddr0, guarded_a
        guard pmpaddr1, guarded_b
        li t0, -1
        csrw pmpaddr2, t0
        li t0, PROTECTION
        csrw pmpcfg0, t0
        li t0, USER_ECALL
        csrw medeleg, t0
        li t0, MPP
        csrc mstatus, t0
        li t0, MPP_S
        csrs mstatus, t0
        la t0, middle_start
        csrw mepc, t0
        mret
end _start

function middle_start
        la sp, middle_stack
        la t0, middle_vector
        csrw stvec, t0
        call middle_main
        call middle_run
        j .
end middle_start

/* Stays open. */
function middle_run
        csrw sscratch, sp
        li t0, SPP
        csrc sstatus, t0
        la t0, user_start
        csrw sepc, t0
        sret
end middle_run

function user_start
        la sp, user_stack
        call user_main
        li a0, -1
        ecall
end user_start

        .text
function trap
        ecall
        ret
end trap

function trap_top
        ecall
        ret
end trap_top

        .balign 4
top_vector:
        csrrw sp, mscratch, sp
        addi sp, sp, -16
        sd ra, (sp)
        csrr t0, mcause
        li t1, FETCH_FAULT
        beq t0, t1, 1f
        bltz a0, 3f
        csrr t0, mepc
        addi t0, t0, 4
        csrw mepc, t0
        call top_serve
        j 2f
1:      csrr t0, pmpcfg0
        li t1, 0xff
        and t0, t0, t1
        bnez t0, 4f
        li t1, 0xff00
4:      csrc pmpcfg0, t1
        call top_fault
2:      ld ra, (sp)
        addi sp, sp, 16
        csrrw sp, mscratch, sp
        mret
3:      power_off

        .balign 4
middle_vector:
        csrrw sp, sscratch, sp
        bltz a0, 1f
        addi sp, sp, -16
        sd ra, (sp)
        csrr t0, sepc
        addi t0, t0, 4
        csrw sepc, t0
        call middle_serve
        ld ra, (sp)
        addi sp, sp, 16
        csrrw sp, sscratch, sp
        sret
1:      ecall

.macro guarded name
        .balign 4096
function \name
        addi sp, sp, -16
        sd ra, (sp)
        call leaf
        ld ra, (sp)
        addi sp, sp, 16
        ret
end \name
.endm
        guarded guarded_a
        guarded guarded_b
        .balign 4096

        stack top_stack
        stack middle_stack
        stack user_stack
