/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU's aarch64 board "virt" with virtualization=on: EL2 is the top. A negative number in x0 goes up
 * to there and cuts the power. */
#define FUNCTION_ALIGN 1 /* one follows the other */
#include "aarch64.inc"
#define EL1_64BIT       (1 << 31)
#define TO_EL1          0x3c5
#define TO_EL0          0x3c0

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

.macro handlers name, serve, off
        .balign 2048
\name:
        .space 0x400
        tbnz x0, #63, \off
        stp x29, x30, [sp, #-16]!
        bl \serve
        ldp x29, x30, [sp], #16
        eret
.endm
        handlers top_vectors, top_serve, power_off
        handlers middle_vectors, middle_serve, pass_on

pass_on:
        hvc #0
power_off:
        power_off smc

        stack top_stack
        stack middle_stack
        stack user_stack
