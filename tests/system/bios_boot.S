/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first sector of a disk: asks the BIOS for this and that, and switches the machine off. */
    .code16
    .globl _start
_start:
    cli
    xor %ax, %ax
    mov %ax, %ds
    mov %ax, %es
    mov %ax, %ss
    mov $0x7000, %sp
    sti
    mov $'a', %al
    call print
    call print
    mov $0x0201, %ax /* reads the second sector */
    mov $0x0002, %cx
    mov $0x0080, %dx
    mov $0x8000, %bx
    int $0x13
    xor %ah, %ah /* the time, so that its interrupt has hit */
    int $0x1a
    mov %dx, %si
1:  xor %ah, %ah
    int $0x1a
    cmp %dx, %si
    je 1b
    mov $0x604, %dx
    mov $0x2000, %ax
    outw %ax, %dx
2:  hlt
    jmp 2b

print:
    mov $0x0e, %ah
    xor %bx, %bx
    int $0x10
    ret

    .org 510
    .word 0xaa55
    .org 4096
