/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Start code of exit.c: each vCPU calls work(its number) on a stack of its own. */
#include "aarch64.inc"
#define VCPUS 4

        .section .start, "ax"
function _start
        mrs x0, mpidr_el1
        and x0, x0, #0xff
        ldr x1, =stacks
        add x2, x0, #1
        add x1, x1, x2, lsl #14
        mov sp, x1
        bl work
1:      wfi
        b 1b
end _start

/* Starts the vCPU. */
function start_vcpu
        mov x1, x0
        ldr x0, =PSCI_CPU_ON
        ldr x2, =_start
        mov x3, #0
        hvc #0
        ret
end start_vcpu

/* Ends QEMU by semihosting, with that status. */
function end_machine
        ldr x1, =reason
        str x0, [x1, #8]
        mov w0, #0x20 /* SYS_EXIT_EXTENDED */
        hlt #0xf000
        b .
end end_machine
        .ltorg

        .data
        .balign 8
reason: .quad 0x20026, 0
        .bss
        .balign 16
stacks: .space VCPUS << 14
        .section .note.GNU-stack, "", %progbits
        .text
