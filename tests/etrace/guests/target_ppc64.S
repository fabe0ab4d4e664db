/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A loop that calls, stores and loads; an access of each size; exits with status 42. */
        .abiversion 2
        .text
        .globl _start
_start: li 14, 100
1:      bl sum
        addic. 14, 14, -1
        bne 1b
        stb 14, -64(1)
        sth 14, -62(1)
        stw 14, -60(1)
        std 14, -56(1)
        lbz 15, -64(1)
        lhz 15, -62(1)
        lwz 15, -60(1)
        ld 15, -56(1)
        li 3, 42
        li 0, 1
        sc
sum:    std 14, -8(1)
        ld 15, -8(1)
        add 16, 16, 15
        blr
