/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU's riscv64 board "virt" without firmware: all vCPUs begin here, in M mode; the word written to
 * the test device cuts the power. */
#define TEST_DEVICE 0x100000
#define POWER_OFF   0x5555

        .section .start, "ax"
        .globl _start
        .type _start, @function
_start:
        bnez a0, start_other
        la sp, stack_top
        call run_tree
        li t0, TEST_DEVICE
        li t1, POWER_OFF
        sw t1, 0(t0)
1:      wfi
        j 1b
        .size _start, . - _start

        .type start_other, @function
start_other:
        la sp, other_stack_top
        call run_other
1:      wfi
        j 1b
        .size start_other, . - start_other

        .text
        .globl wake_other
        .type wake_other, @function
wake_other:
        ret
        .size wake_other, . - wake_other

        .globl leap
        .type leap, @function
leap:
        addi a0, a0, 1
        j landed
        .size leap, . - leap

        .bss
        .balign 16
        .space 0x20000
stack_top:
        .space 0x4000
other_stack_top:
