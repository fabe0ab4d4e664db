/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU's board "virt" of aarch64: a branch that is written anew before each time that it runs. */
        .globl _start
_start: ldr w3, =TIMES
        adr x1, place
        mov w2, #0x14000000
        orr w2, w2, #1
again:  str w2, [x1]
        eor w2, w2, #3
        dsb sy
        ic ivau, x1
        isb
        br x1
odd:    add w4, w4, #1
even:   subs w3, w3, #1
        b.ne again
        movz x0, #0x8400, lsl #16
        movk x0, #8
        hvc #0
1:      wfi
        b 1b
        .balign 4096
place:  .word 0 /* to one of the next two */
        b odd
        b even
        .section .note.GNU-stack, "", @progbits
/* Its lines are counted, so it uses no macros of tests/lib/start. */
