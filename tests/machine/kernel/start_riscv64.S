/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel.h"
#include "riscv64.inc"
#define FRAME       272
#define MPP         0x1800
#define MPP_S       0x800
#define M_SOFT      (1 << 3)
#define M_TIMER     (1 << 7)
#define S_SOFT      (1 << 1)
/* All of S's own but its calls of M; and its guests' calls. */
#define TO_S        0xb5ff
#define ALL_ALLOWED 0x1f
#define CLINT_SOFT  0x2000000
#define CLINT_COMPARE 0x2004000

/* Registers but x2, sp, and x4, the hart. */
.macro all op
        \op x1, 8(sp)
        .irp n, 3,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        \op x\n, 8 * \n(sp)
        .endr
.endm

        .section .start, "ax"
function _start
        csrr tp, mhartid
        li t0, STACK_SIZE
        mul t0, t0, tp
        la sp, machine_stacks + STACK_SIZE
        add sp, sp, t0
        csrw mscratch, sp
        la sp, k_boot_stacks + STACK_SIZE
        add sp, sp, t0
        la t0, vector_machine
        csrw mtvec, t0
        bnez tp, k_wait_for_start
1:      li t0, -1
        csrw pmpaddr0, t0
        li t0, ALL_ALLOWED
        csrw pmpcfg0, t0
        li t0, TO_S
        csrw medeleg, t0
        li t0, S_SOFT
        csrw mideleg, t0
        li t0, -1
        csrw mcounteren, t0
        slli t1, tp, 3
        li t2, CLINT_COMPARE
        add t1, t1, t2
        sd t0, (t1)
        li t0, M_SOFT | M_TIMER
        csrw mie, t0
        li t0, MPP
        csrc mstatus, t0
        li t0, MPP_S
        csrs mstatus, t0
        la t0, k_start_kernel
        csrw mepc, t0
        mret
k_wait_for_start:
        li t0, M_SOFT
        csrw mie, t0
2:      wfi
        la t0, k_may_start
        slli t1, tp, 2
        add t0, t0, t1
        lw t0, (t0)
        beqz t0, 2b
        li t0, CLINT_SOFT
        add t0, t0, t1
        sw zero, (t0)
        j 1b
end _start

function k_start_kernel
        csrw sscratch, zero
        la t0, vector_trap
        csrw stvec, t0
        csrwi sie, S_SOFT
        mv a0, tp
        call k_main
1:      wfi
        j 1b
end k_start_kernel

        .text
/* sscratch: the kernel's stack pointer while a user's program runs, 0 in the kernel. */
function vector_trap
        csrrw sp, sscratch, sp
        bnez sp, 1f
        csrr sp, sscratch
#ifdef OVERFLOW
        srli sp, sp, 22
        addi sp, sp, -OVERFLOW
        bnez sp, 2f
        la sp, k_emergency_stack + STACK_SIZE
        j 1f
2:      csrr sp, sscratch
#endif
1:      addi sp, sp, -FRAME
        all sd
        csrrw t0, sscratch, zero
        sd t0, 16(sp)
        csrr t0, sepc
        csrr t1, sstatus
        sd t0, 256(sp)
        sd t1, 264(sp)
        mv a0, sp
        la a1, vector_trap
#ifdef RTOS
        la t0, k_current
        ld t0, (t0)
        sd sp, (t0)
#endif
        call k_trap
#ifdef RTOS
        la t0, k_current
        ld t0, (t0)
        ld sp, (t0)
#endif
end vector_trap
function k_trap_exit
        ld t0, 256(sp)
        ld t1, 264(sp)
        csrw sepc, t0
        csrw sstatus, t1
        andi t1, t1, 0x100
        bnez t1, 1f
        addi t0, sp, FRAME
        csrw sscratch, t0
1:      all ld
        ld sp, 16(sp)
        sret
end k_trap_exit

function vector_machine
        csrrw sp, mscratch, sp
        addi sp, sp, -FRAME
        all sd
        csrrw t0, mscratch, zero
        sd t0, 16(sp)
        csrr t0, mepc
        csrr t1, mstatus
        sd t0, 256(sp)
        sd t1, 264(sp)
        mv a0, sp
        la a1, vector_machine
        call k_machine_trap
        ld t0, 256(sp)
        ld t1, 264(sp)
        csrw mepc, t0
        csrw mstatus, t1
        addi t0, sp, FRAME
        csrw mscratch, t0
        all ld
        ld sp, 16(sp)
        mret
end vector_machine

/* From a0 to a1, what a callee saves. */
function cpu_switch_to
        sd ra, 0(a0)
        sd sp, 8(a0)
        sd s0, 16(a0)
        sd s1, 24(a0)
        sd s2, 32(a0)
        sd s3, 40(a0)
        sd s4, 48(a0)
        sd s5, 56(a0)
        sd s6, 64(a0)
        sd s7, 72(a0)
        sd s8, 80(a0)
        sd s9, 88(a0)
        sd s10, 96(a0)
        sd s11, 104(a0)
        ld ra, 0(a1)
        ld sp, 8(a1)
        ld s0, 16(a1)
        ld s1, 24(a1)
        ld s2, 32(a1)
        ld s3, 40(a1)
        ld s4, 48(a1)
        ld s5, 56(a1)
        ld s6, 64(a1)
        ld s7, 72(a1)
        ld s8, 80(a1)
        ld s9, 88(a1)
        ld s10, 96(a1)
        ld s11, 104(a1)
        ret
end cpu_switch_to

function call_on_stack
        addi sp, sp, -16
        sd s0, 0(sp)
        sd ra, 8(sp)
        addi s0, sp, 16
        mv sp, a2
        jalr a1
        addi sp, s0, -16
        ld ra, 8(sp)
        ld s0, 0(sp)
        addi sp, sp, 16
        ret
end call_on_stack

/* a0 is the caller's. */
function go_there
        add ra, ra, a0
        ret
end go_there
function start_over
        call go_there
        add a1, a1, a0
        add a2, a2, a0
        mv sp, a2
        jalr a1
        j .
end start_over

function k_thread_start
        call thread_begin
        mv a0, s2
        jalr s1
        j .
end k_thread_start

function k_user_thread_start
        call user_thread_begin
        j k_trap_exit
end k_user_thread_start

        .bss
        .balign 4096
        .globl k_giants
k_giants:
        .space 4096
        .balign STACK_SIZE
        .globl k_boot_stacks
k_boot_stacks:
        .space STACK_SIZE * CPUS
machine_stacks:
        .space STACK_SIZE * CPUS
