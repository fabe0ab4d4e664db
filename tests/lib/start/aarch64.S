/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Start code for QEMU's aarch64 board "virt": calls START_MAIN on a stack of START_STACK bytes, then cuts the power.
 * With START_OTHER, start_other calls that on a stack of its own; PSCI starts another vCPU there.
 */
#include "aarch64.inc"
#ifndef START_STACK
#define START_STACK 0x4000
#endif

        .section .start, "ax"
function _start
        ldr x0, =start_stack
        mov sp, x0
        bl START_MAIN
        power_off
end _start

#ifdef START_OTHER
function start_other
        ldr x0, =start_other_stack
        mov sp, x0
        bl START_OTHER
1:      wfi
        b 1b
end start_other
#endif
        .ltorg

        stack start_stack, START_STACK
#ifdef START_OTHER
        stack start_other_stack
#endif
        .section .note.GNU-stack, "", %progbits
        .text
