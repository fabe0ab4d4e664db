/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A loop that calls, stores and loads; an access of each size; exits with status 42. */
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
        sb $16, -64($29)
        sh $16, -62($29)
        sw $16, -60($29)
        lbu $17, -64($29)
        lhu $17, -62($29)
        lw $17, -60($29)
        li $4, 42
        li $2, 4001
        syscall
sum:    sw $16, -4($29)
        lw $17, -4($29)
        jr $31
        addu $18, $18, $17
