/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A loop that calls, stores and loads; exits with status 42. */
        .set noreorder
        .text
        .globl __start
        .globl _start
__start:
_start:
        li $16, 100
1:      bal sum
        nop
        addiu $16, $16, -1
        bnez $16, 1b
        nop
        li $4, 42
        li $2, 4001
        syscall
sum:    sw $16, -4($29)
        lw $17, -4($29)
        jr $31
        addu $18, $18, $17
