/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A firmware of 64 KiB for a PC: goes to long mode, copies the code of data/zoo.x86_64 (ZOO) to
 * ZOO_AT, and runs it there; memory is mapped to itself. Its system call is not enabled and there is
 * no interrupt table: it resets the machine.
 */
#define BASE   0xf0000
#define TABLES 0x10000
#define PAGE   3                        /* present, written to */
#define LARGE  0x83

        .section .text
        .globl _start
        .code16
_start:
real:   cli
        lgdtl %cs:(gdt_at - _start)
        movl %cr0, %eax
        orl $1, %eax
        movl %eax, %cr0
        ljmpl $8, $(BASE + protected - _start)

        .code32
protected:
        movl $16, %eax
        movl %eax, %ds
        movl %eax, %es
        movl %eax, %ss
        cld
        movl $TABLES, %edi              /* a table of each level, 2 MiB pages */
        xorl %eax, %eax
        movl $0xc00, %ecx
        rep stosl
        movl $(TABLES + 0x1000 + PAGE), TABLES
        movl $(TABLES + 0x2000 + PAGE), TABLES + 0x1000
        movl $LARGE, TABLES + 0x2000
        movl $(0x200000 + LARGE), TABLES + 0x2008
        movl $(0x400000 + LARGE), TABLES + 0x2010
        movl $(BASE + zoo - _start), %esi
        movl $ZOO_AT, %edi
        movl $(zoo_end - zoo), %ecx
        rep movsb
        movl $TABLES, %eax
        movl %eax, %cr3
        movl %cr4, %eax
        orl $0x20, %eax
        movl %eax, %cr4
        movl $0xc0000080, %ecx
        rdmsr
        orl $0x100, %eax
        wrmsr
        movl %cr0, %eax
        orl $0x80000001, %eax
        movl %eax, %cr0
        ljmpl $24, $(BASE + long - _start)

        .code64
long:   xorl %eax, %eax
        xorl %ebx, %ebx
        jmp *BASE + entry - _start

        .balign 8
entry:  .quad ZOO_AT
gdt:    .quad 0, 0x00cf9a000000ffff, 0x00cf92000000ffff, 0x00af9a000000ffff
gdt_at: .word 31
        .long BASE + gdt - _start
zoo:    .incbin ZOO
zoo_end:
        .org 0xfff0
        .code16
        jmp real
        .org 0x10000
        .section .note.GNU-stack, "", @progbits
