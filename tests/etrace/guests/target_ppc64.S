/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A loop that calls, stores and loads; exits with status 42. */
        .abiversion 2
        .text
        .globl _start
_start: li 14, 100
1:      bl sum
        addic. 14, 14, -1
        bne 1b
        li 3, 42
        li 0, 1
        sc
sum:    std 14, -8(1)
        ld 15, -8(1)
        add 16, 16, 15
        blr
