/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QEMU's board "pc" with this as its firmware, 64 KiB at 0xf0000: from real mode to 64 bits, where
 * 4 GiB are mapped where they are, and a second time ALIAS further up. The second vCPU comes the
 * same way, started through the local APIC; the keyboard controller's reset ends the machine
 * (-no-reboot).
 */
#define CODE32   0x08
#define DATA     0x10
#define CODE64   0x18
#define PML4     0x1000
#define PDPT     0x2000
#define GIANT    0x83 /* present, writable, 1 GiB */
#define ICR_LOW  0xfee00300
#define ICR_HIGH 0xfee00310
#define ALIAS    0x8000000000

        .section .start, "ax"
        .code16
        .globl _start
        .type _start, @function
_start:
        cli
        mov %cs, %ax
        mov %ax, %ds
        lgdtl gdt_pointer - BASE
        mov %cr0, %eax
        or $1, %al
        mov %eax, %cr0
        ljmpl $CODE32, $start32

        .code32
start32:
        mov $DATA, %eax
        mov %eax, %ds
        mov %eax, %es
        mov %eax, %ss
        movl $PDPT + 3, PML4
        movl $PDPT + 3, PML4 + 8
        movl $GIANT, PDPT
        movl $0x40000000 + GIANT, PDPT + 8
        movl $0x80000000 + GIANT, PDPT + 16
        movl $0xc0000000 + GIANT, PDPT + 24
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
start64:
        mov $1, %eax
        cpuid
        shr $24, %ebx
        jnz start_other
        lea stack_top(%rip), %rsp
        call run_tree
#ifdef ALIASES
        call run_aliases
#endif
        mov $0xfe, %al
        out %al, $0x64
1:      hlt
        jmp 1b
        .size _start, . - _start

        .type start_other, @function
start_other:
        lea other_stack_top(%rip), %rsp
        call run_other
1:      hlt
        jmp 1b
        .size start_other, . - start_other

        .balign 8
gdt:
        .quad 0
        .quad 0x00cf9b000000ffff
        .quad 0x00cf93000000ffff
        .quad 0x00af9b000000ffff
gdt_pointer:
        .word . - gdt - 1
        .long gdt

        .text
        .globl wake_other
        .type wake_other, @function
wake_other:
        mov $ICR_LOW, %edi
        movl $0x01000000, ICR_HIGH - ICR_LOW(%rdi)
        movl $0x00004500, (%rdi) /* INIT */
        movl $0x000046f0, (%rdi) /* start at 0xf0000 */
        ret
        .size wake_other, . - wake_other

        .globl leap
        .type leap, @function
leap:
        inc %edi
        jmp landed
        .size leap, . - leap

#ifdef ALIASES
/* known is first called where it is linked, seldom ALIAS further up: whose blocks are those? */
        .type run_aliases, @function
run_aliases:
        call known
        lea seldom(%rip), %rax
        movabs $ALIAS, %rcx
        add %rcx, %rax
        call *%rax
        call seldom
        ret
        .size run_aliases, . - run_aliases

        .balign 16
        .type seldom, @function
seldom:
        call known
        call known
        ret
        .size seldom, . - seldom

        .balign 16
        .type known, @function
known:
        nop
        ret
        .size known, . - known
#endif

        .section .reset, "ax"
        .code16
        ljmp $0xf000, $0
        .balign 16

        .bss
        .balign 16
        .space 0x20000
stack_top:
        .space 0x4000
other_stack_top:
