/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU's aarch64 board "virt": the second vCPU is woken and the power is cut through PSCI. */
#define PSCI_SYSTEM_OFF 0x84000008
#define PSCI_CPU_ON     0xc4000003

        .section .start, "ax"
        .globl _start
        .type _start, %function
_start:
        ldr x0, =stack_top
        mov sp, x0
        bl run_tree
        ldr x0, =PSCI_SYSTEM_OFF
        hvc #0
1:      wfi
        b 1b
        .size _start, . - _start

        .type start_other, %function
start_other:
        ldr x0, =other_stack_top
        mov sp, x0
        bl run_other
1:      wfi
        b 1b
        .size start_other, . - start_other

        .text
        .globl wake_other
        .type wake_other, %function
wake_other:
        ldr x0, =PSCI_CPU_ON
        mov x1, #1
        ldr x2, =start_other
        mov x3, #0
        hvc #0
        ret
        .size wake_other, . - wake_other

        .globl leap
        .type leap, %function
leap:
        add x0, x0, #1
        b landed
        .size leap, . - leap

        .bss
        .balign 16
        .space 0x20000
stack_top:
        .space 0x4000
other_stack_top:
