/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Start code for QEMU's riscv64 board "virt" without firmware, in M mode: calls START_MAIN on a stack of START_STACK
 * bytes, then cuts the power. With START_OTHER, all vCPUs but the first call that, on a stack of its own.
 */
#include "riscv64.inc"
#ifndef START_STACK
#define START_STACK 0x4000
#endif

        .section .start, "ax"
function _start
#ifdef START_OTHER
        bnez a0, start_other
#endif
        la sp, start_stack
        call START_MAIN
        power_off
end _start

#ifdef START_OTHER
function start_other
        la sp, start_other_stack
        call START_OTHER
1:      wfi
        j 1b
end start_other
#endif

        stack start_stack, START_STACK
#ifdef START_OTHER
        stack start_other_stack
#endif
        .section .note.GNU-stack, "", @progbits
        .text
