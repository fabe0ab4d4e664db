/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU's board "pc" with this as its firmware, 64 KiB at 0xf0000: from real mode to 64 bits, and on to
 * ring 3, which asks ring 0 by an interrupt. A negative number in rdi resets the machine (-no-reboot).
 */
#define CODE32    0x08
#define DATA      0x10
#define CODE64    0x18
#define USER_DATA 0x23
#define USER_CODE 0x2b
#define TASK      0x30
#define PML4      0x1000
#define PDPT      0x2000
#define IDT       0x3000
#define TSS       0x4000
#define GIANT     0x87 /* present, writable, user, 1 GiB */
#define TABLE     7
#define GATE      0xee00 /* 64 bit interrupt gate, for ring 3 */
#define ASK       0x40

.macro function name
        .globl \name
        .type \name, @function
\name:
.endm
.macro end name
        .size \name, . - \name
.endm

        .section .start, "ax"
        .code16
function _start
        cli
        mov %cs, %ax
        mov %ax, %ds
        mov $0x7000, %sp
        xor %ax, %ax
        mov %ax, %ss
        call real_main
        lgdtl gdt_pointer - BASE
        mov %cr0, %eax
        or $1, %al
        mov %eax, %cr0
        ljmpl $CODE32, $start32
end _start

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
        mov $DATA, %eax
        mov %eax, %ds
        mov %eax, %es
        mov %eax, %ss
        movl $PDPT + TABLE, PML4
        movl $GIANT, PDPT
        mov $PML4, %eax
        mov %eax, %cr3
        mov $0x20, %eax /* PAE */
        mov %eax, %cr4
        mov $0xc0000080, %ecx
        rdmsr
        or $0x100, %eax /* LME */
        wrmsr
        mov %cr0, %eax
        or $0x80000000, %eax
        mov %eax, %cr0
        ljmpl $CODE64, $start64

        .code64
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
1:      mov $0xfe, %al
        out %al, $0x64
2:      hlt
        jmp 2b
end top_vector

function guarded_a
        call leaf
        ret
end guarded_a

function guarded_b
        call leaf
        ret
end guarded_b

        .balign 16
gdt:
        .quad 0
        .quad 0x00cf9a000000ffff
        .quad 0x00cf92000000ffff
        .quad 0x00af9a000000ffff
        .quad 0x00cff2000000ffff
        .quad 0x00affa000000ffff
        .quad 0x0000890040000067 /* the task's state at TSS */
        .quad 0
gdt_pointer:
        .word . - gdt - 1
        .long gdt
idt_pointer:
        .word (ASK + 1) * 16 - 1
        .quad IDT

        .section .reset, "ax"
        .code16
        ljmp $0xf000, $0
        .balign 16

        .bss
        .balign 16
        .space 0x4000
top_stack:
        .space 0x4000
vector_stack:
        .space 0x4000
user_stack:
