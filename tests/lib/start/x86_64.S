/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Start code for QEMU's board "pc" with this as its firmware: calls START_MAIN in 64 bits, on a stack of START_STACK
 * bytes, START_THEN if there is one, and ends the machine. With START_OTHER, all vCPUs but the first call that, on a
 * stack of its own; the local APIC starts them at 0xf0000.
 */
#include "x86_64.inc"
#ifndef START_STACK
#define START_STACK 0x4000
#endif

        .section .start, "ax"
function _start
        real_mode
        protected_mode start32
start32:
        long_mode start64, alias=1
start64:
#ifdef START_OTHER
        mov $1, %eax
        cpuid
        shr $24, %ebx
        jnz start_other
#endif
        lea start_stack(%rip), %rsp
        call START_MAIN
#ifdef START_THEN
        call START_THEN
#endif
        power_off
end _start

#ifdef START_OTHER
function start_other
        lea start_other_stack(%rip), %rsp
        call START_OTHER
1:      hlt
        jmp 1b
end start_other
#endif
        descriptors
        end_descriptors
        reset_vector

        stack start_stack, START_STACK
#ifdef START_OTHER
        stack start_other_stack
#endif
        .section .note.GNU-stack, "", @progbits
        .text
