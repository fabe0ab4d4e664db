/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU's board "pc" with this as its firmware, 64 KiB at 0xf0000: from real mode to 64 bits, and on to
 * ring 3, which asks ring 0 by an interrupt. A negative number in rdi resets the machine (-no-reboot).
 */
#define FUNCTION_ALIGN 1 /* one follows the other */
#include "x86_64.inc"
#define USER_DATA 0x23
#define USER_CODE 0x2b
#define TASK      0x30
#define IDT       0x3000
#define TSS       0x4000
#define GATE      0xee00 /* 64 bit interrupt gate, for ring 3 */
#define ASK       0x40

        .section .start, "ax"
        .code16
function _start
        real_mode
        mov $0x7000, %sp
        xor %ax, %ax
        mov %ax, %ss
        call real_main
        protected_mode start32
end _start

        .code16
function real_main
        call real_leaf
        call real_leaf
        ret
end real_main

function real_leaf
        nop
        ret
end real_leaf

        .code32
start32:
        long_mode start64

function start64
        lea top_stack(%rip), %rsp
        call top_main
        lea top_vector(%rip), %rax
        mov %ax, IDT + ASK * 16
        movw $CODE64, IDT + ASK * 16 + 2
        movw $GATE, IDT + ASK * 16 + 4
        shr $16, %rax
        mov %ax, IDT + ASK * 16 + 6
        lidt idt_pointer(%rip)
        lea vector_stack(%rip), %rax
        mov %rax, TSS + 4
        mov $TASK, %eax
        ltr %ax
        pushq $USER_DATA
        lea user_stack(%rip), %rax
        push %rax
        pushq $2
        pushq $USER_CODE
        lea user_start(%rip), %rax
        push %rax
        iretq
end start64

function user_start
        call user_main
        mov $-1, %rdi
        int $ASK
end user_start

        .text
function trap
        int $ASK
        ret
end trap

function trap_top
        ret
end trap_top

function top_vector
        test %rdi, %rdi
        js 1f
        call top_serve
        iretq
1:      power_off
end top_vector

function guarded_a
        call leaf
        ret
end guarded_a

function guarded_b
        call leaf
        ret
end guarded_b

        descriptors
        .quad 0x00cff2000000ffff
        .quad 0x00affa000000ffff
        .quad 0x0000890040000067 /* the task's state at TSS */
        .quad 0
        end_descriptors
idt_pointer:
        .word (ASK + 1) * 16 - 1
        .quad IDT

        reset_vector

        stack top_stack
        stack vector_stack
        stack user_stack
