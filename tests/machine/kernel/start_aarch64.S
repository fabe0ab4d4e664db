/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aarch64.inc"
#include "kernel.h"

.macro vector name
        .balign 128
        .globl \name
        .type \name, %function
\name:
        sub sp, sp, #272
#ifdef OVERFLOW
        msr tpidr_el0, x0
        mov x0, sp
        lsr x0, x0, #22
        cmp x0, #OVERFLOW
        b.ne 1f
        ldr x0, =k_emergency_stack + STACK_SIZE - 272
        mov sp, x0
1:      mrs x0, tpidr_el0
#endif
        stp x0, x1, [sp]
        adr x1, \name
        b k_trap_entry
        .size \name, . - \name
.endm
.macro no_vector
        .balign 128
        b k_bad_trap
.endm

        .section .start, "ax"
function _start
#ifdef GUESTS
        b k_hyp_start
#endif
        mov x0, #0
end _start
function k_start_other
        ldr x1, =k_boot_stacks + STACK_SIZE
        ldr x2, =STACK_SIZE
        madd x1, x0, x2, x1
        mov sp, x1
        ldr x1, =k_vectors
        msr vbar_el1, x1
        bl k_main
1:      wfi
        b 1b
end k_start_other

        .text
        .balign 2048
k_vectors:
        no_vector
        no_vector
        no_vector
        no_vector
        vector vector_sync
        vector vector_irq
        no_vector
        no_vector
        vector vector_user_sync
        vector vector_user_irq
        no_vector
        no_vector

function k_trap_entry
        stp x2, x3, [sp, #16]
        stp x4, x5, [sp, #32]
        stp x6, x7, [sp, #48]
        stp x8, x9, [sp, #64]
        stp x10, x11, [sp, #80]
        stp x12, x13, [sp, #96]
        stp x14, x15, [sp, #112]
        stp x16, x17, [sp, #128]
        stp x18, x19, [sp, #144]
        stp x20, x21, [sp, #160]
        stp x22, x23, [sp, #176]
        stp x24, x25, [sp, #192]
        stp x26, x27, [sp, #208]
        stp x28, x29, [sp, #224]
        mrs x2, sp_el0
        stp x30, x2, [sp, #240]
        mrs x2, elr_el1
        mrs x3, spsr_el1
        stp x2, x3, [sp, #256]
        mov x0, sp
#ifdef RTOS
        ldr x9, =k_current
        ldr x9, [x9]
        str x0, [x9]
#endif
        bl k_trap
#ifdef RTOS
        ldr x9, =k_current
        ldr x9, [x9]
        ldr x9, [x9]
        mov sp, x9
#endif
end k_trap_entry
function k_trap_exit
        ldp x2, x3, [sp, #256]
        msr elr_el1, x2
        msr spsr_el1, x3
        ldp x30, x2, [sp, #240]
        msr sp_el0, x2
        ldp x0, x1, [sp]
        ldp x2, x3, [sp, #16]
        ldp x4, x5, [sp, #32]
        ldp x6, x7, [sp, #48]
        ldp x8, x9, [sp, #64]
        ldp x10, x11, [sp, #80]
        ldp x12, x13, [sp, #96]
        ldp x14, x15, [sp, #112]
        ldp x16, x17, [sp, #128]
        ldp x18, x19, [sp, #144]
        ldp x20, x21, [sp, #160]
        ldp x22, x23, [sp, #176]
        ldp x24, x25, [sp, #192]
        ldp x26, x27, [sp, #208]
        ldp x28, x29, [sp, #224]
        add sp, sp, #272
        eret
end k_trap_exit

function k_bad_trap
        mrs x0, elr_el1
        mov x1, x0
        adr x0, 1f
        b k_panic
1:      .asciz "trap at"
        .balign 4
end k_bad_trap

/* From x0 to x1, what a callee saves. */
function cpu_switch_to
        mov x9, sp
        stp x19, x20, [x0], #16
        stp x21, x22, [x0], #16
        stp x23, x24, [x0], #16
        stp x25, x26, [x0], #16
        stp x27, x28, [x0], #16
        stp x29, x9, [x0], #16
        str x30, [x0]
        ldp x19, x20, [x1], #16
        ldp x21, x22, [x1], #16
        ldp x23, x24, [x1], #16
        ldp x25, x26, [x1], #16
        ldp x27, x28, [x1], #16
        ldp x29, x9, [x1], #16
        ldr x30, [x1]
        mov sp, x9
        ret
end cpu_switch_to

function call_on_stack
        stp x29, x30, [sp, #-16]!
        mov x29, sp
        mov sp, x2
        blr x1
        mov sp, x29
        ldp x29, x30, [sp], #16
        ret
end call_on_stack

/* x0 is the caller's. */
function go_there
        add x30, x30, x0
        ret
end go_there
function start_over
        bl go_there
        add x1, x1, x0
        add x2, x2, x0
        mov sp, x2
        blr x1
        b .
end start_over

function k_thread_start
        bl thread_begin
        mov x0, x20
        blr x19
        b .
end k_thread_start

function k_user_thread_start
        bl user_thread_begin
        b k_trap_exit
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
