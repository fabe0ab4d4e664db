/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A PC's firmware of 64 KiB, linked for 0: loops in real mode, with calls, stores and loads, then in
 * protected mode; ends QEMU through the device isa-debug-exit. Each instruction of it is compared, so it has no start
 * code but its own. */
#define BASE 0xffff0000
#define EXIT 0xf4

        .code16
        .text
        .globl _start
_start: cli
        xor %ax, %ax
        mov %ax, %ss
        mov $0x7000, %sp
        mov $100, %cx
1:      call real
        loop 1b
        lgdtl %cs:gdt_place
        mov %cr0, %eax
        or $1, %eax
        mov %eax, %cr0
        ljmpl $8, $(BASE + wide)
real:   push %cx
        pop %bx
        add %bx, %dx
        ret

        .code32
wide:   mov $16, %ax
        mov %ax, %ds
        mov %ax, %ss
        mov $0x7000, %esp
        mov $100, %ecx
2:      push %ecx
        mov (%esp), %eax
        add %eax, %ebx
        pop %ecx
        dec %ecx
        jnz 2b
        xor %eax, %eax
        .globl off
off:    outl %eax, $EXIT
3:      jmp 3b

        .balign 8
gdt:    .quad 0, 0x00cf9b000000ffff, 0x00cf93000000ffff
gdt_place:
        .word . - gdt - 1
        .long BASE + gdt

        .org 0xfff0
        .code16
        ljmp $0xf000, $_start
        .org 0xffff
        .byte 0
        .section .note.GNU-stack, "", @progbits
