/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU's aarch64 board "virt" with secure=on and a CPU with realms: EL3 is the top, a monitor that goes
 * from one world's EL1 to another's. A negative number in x0 ends QEMU, by semihosting. */
#define TO_EL1      0x3c5
#define SCR         0x400 /* EL1 is 64 bit */
#define SCR_NS      1
#define SCR_NSE     (1 << 62)
#define FUNCTION_ALIGN 1 /* one follows the other */
#include "aarch64.inc"

        .section .start, "ax"
function _start
        ldr x0, =top_stack
        mov sp, x0
        ldr x0, =top_vectors
        msr vbar_el3, x0
        bl top_main
        mov x0, #1
        b enter_world
end _start

function enter_world
        ldr x1, =current
        str x0, [x1]
        ldr x1, =worlds
        add x1, x1, x0, lsl #5
        ldp x2, x3, [x1]
        msr elr_el3, x2
        msr spsr_el3, x3
        ldp x2, x3, [x1, #16]
        msr sp_el1, x2
        msr scr_el3, x3
        eret
end enter_world

function nonsecure_start
        bl nonsecure_main
        mov x0, #-1
        smc #0
end nonsecure_start

function secure_start
        bl secure_main
        b .
end secure_start

function realm_start
        bl realm_main
        b .
end realm_start

        .text
function trap_world
        stp x19, x30, [sp, #-16]!
        smc #0
        ldp x19, x30, [sp], #16
        ret
end trap_world

function trap
        ret
end trap
function trap_top
        ret
end trap_top
function guarded_a
        ret
end guarded_a
function guarded_b
        ret
end guarded_b

        .balign 2048
function top_vectors
        .space 0x400
        tbnz x0, #63, exit
        ldr x1, =current
        ldr x1, [x1]
        ldr x2, =worlds
        add x1, x2, x1, lsl #5
        mrs x2, elr_el3
        mrs x3, spsr_el3
        stp x2, x3, [x1]
        mrs x2, sp_el1
        mrs x3, scr_el3
        stp x2, x3, [x1, #16]
        mov x19, x0
        bl top_serve
        mov x0, x19
        b enter_world
end top_vectors

exit:
        exit_semihosting

        .data
        .balign 8
current:
        .quad 0
/* elr, spsr, sp_el1, scr */
worlds:
        .quad secure_start, TO_EL1, secure_stack, SCR
        .quad nonsecure_start, TO_EL1, nonsecure_stack, SCR + SCR_NS
        .quad realm_start, TO_EL1, realm_stack, SCR + SCR_NS + SCR_NSE

        stack top_stack
        stack secure_stack
        stack nonsecure_stack
        stack realm_stack
