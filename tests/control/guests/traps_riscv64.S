/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Harts that call a function and make an exception again and again. */
        .globl _start, busy, inner
_start: la t0, handler
        csrw mtvec, t0
loop:   call busy
        ecall
        j loop
        .type busy, @function
busy:   jal t0, inner
        ret
        .size busy, . - busy
        .type inner, @function
inner:  jr t0
        .size inner, . - inner
        .balign 4
        .type handler, @function
handler:
        csrr t1, mepc
        addi t1, t1, 4
        csrw mepc, t1
        mret
        .size handler, . - handler
