/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU's riscv64 board "virt" without firmware, with the hypervisor extension: M is the top, S starts
 * the virtual machine, whose S asks M, and whose user asks it. A negative number in a0 goes up to M
 * and cuts the power. */
#define FUNCTION_ALIGN 1 /* one follows the other */
#include "riscv64.inc"
#define USER_ECALL   (1 << 8)
#define MPP          0x1800
#define MPP_S        0x800
#define SPP          0x100
#define SPV          0x80
#define HSTATUS      0x600
#define HEDELEG      0x602
#define ALL_ACCESS   0x1f

        .section .start, "ax"
function _start
        la sp, top_stack
        call top_main
        csrw mscratch, sp
        la t0, top_vector
        csrw mtvec, t0
        li t0, -1
        csrw pmpaddr0, t0
        li t0, ALL_ACCESS
        csrw pmpcfg0, t0
        li t0, USER_ECALL
        csrw medeleg, t0
        li t0, MPP
        csrc mstatus, t0
        li t0, MPP_S
        csrs mstatus, t0
        la t0, host_start
        csrw mepc, t0
        mret
end _start

function host_start
        la sp, host_stack
        call host_main
        li t0, USER_ECALL
        csrw HEDELEG, t0
        li t0, SPV
        csrs HSTATUS, t0
        li t0, SPP
        csrs sstatus, t0
        la t0, middle_start
        csrw sepc, t0
        sret
end host_start

function middle_start
        la sp, middle_stack
        la t0, middle_vector
        csrw stvec, t0
        call middle_main
        csrw sscratch, sp
        li t0, SPP
        csrc sstatus, t0
        la t0, user_start
        csrw sepc, t0
        sret
end middle_start

function user_start
        la sp, user_stack
        call user_main
        li a0, -1
        ecall
end user_start

        .text
function host_main
        addi sp, sp, -16
        sd ra, (sp)
        call leaf
        ld ra, (sp)
        addi sp, sp, 16
        ret
end host_main

function trap
        ecall
        ret
end trap

function trap_top
        ecall
        ret
end trap_top

        .balign 4
function top_vector
        csrrw sp, mscratch, sp
        addi sp, sp, -16
        sd ra, (sp)
        bltz a0, 1f
        csrr t0, mepc
        addi t0, t0, 4
        csrw mepc, t0
        call top_serve
        ld ra, (sp)
        addi sp, sp, 16
        csrrw sp, mscratch, sp
        mret
1:      power_off
end top_vector

        .balign 4
function middle_vector
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
end middle_vector

.macro guarded name
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

        stack top_stack
        stack host_stack
        stack middle_stack
        stack user_stack
