/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Harts that call a function again and again. */
        .globl _start, busy
_start: call busy
        j _start
        .type busy, @function
busy:   ret
        .size busy, . - busy
