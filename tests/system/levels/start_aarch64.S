/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU's aarch64 board "virt" with virtualization=on: EL2 is the top. A negative number in x0 goes up
 * to there and cuts the power. */
#define PSCI_SYSTEM_OFF 0x84000008
#define EL1_64BIT       (1 << 31)
#define TO_EL1          0x3c5
#define TO_EL0          0x3c0

.macro function name
        .globl \name
        .type \name, %function
\name:
.endm
.macro end name
        .size \name, . - \name
.endm

        .section .start, "ax"
function _start
        ldr x0, =top_stack
        mov sp, x0
        ldr x0, =top_vectors
        msr vbar_el2, x0
        bl top_main
        ldr x0, =middle_stack
        msr sp_el1, x0
        mov x0, #EL1_64BIT
        msr hcr_el2, x0
        mov x0, #TO_EL1
        msr spsr_el2, x0
        ldr x0, =middle_start
        msr elr_el2, x0
        eret
end _start

function middle_start
        ldr x0, =middle_vectors
        msr vbar_el1, x0
        bl middle_main
        bl middle_run
        b .
end middle_start

/* Stays open. */
function middle_run
        ldr x0, =user_stack
        msr sp_el0, x0
        mov x0, #TO_EL0
        msr spsr_el1, x0
        ldr x0, =user_start
        msr elr_el1, x0
        eret
end middle_run

function user_start
        bl user_main
        mov x0, #-1
        svc #0
end user_start

        .text
function trap
        svc #0
        ret
end trap

function trap_top
        hvc #0
        ret
end trap_top

function guarded_a
        stp x29, x30, [sp, #-16]!
        bl leaf
        ldp x29, x30, [sp], #16
        ret
end guarded_a

function guarded_b
        stp x29, x30, [sp, #-16]!
        bl leaf
        ldp x29, x30, [sp], #16
        ret
end guarded_b

.macro vectors name, serve, off
        .balign 2048
\name:
        .space 0x400
        tbnz x0, #63, \off
        stp x29, x30, [sp, #-16]!
        bl \serve
        ldp x29, x30, [sp], #16
        eret
.endm
        vectors top_vectors, top_serve, power_off
        vectors middle_vectors, middle_serve, pass_on

pass_on:
        hvc #0
power_off:
        ldr x0, =PSCI_SYSTEM_OFF
        smc #0

        .bss
        .balign 16
        .space 0x4000
top_stack:
        .space 0x4000
middle_stack:
        .space 0x4000
user_stack:
