/* SPDX-License-Identifier: GPL-2.0-or-later */
.globl _start
.type _start, @function
_start:
    la sp, stack
    call main
1:  j 1b
.size _start, . - _start
.bss
.align 4
.space 4096
stack:
/* Its lines are counted, so it is its own start code and has none of tests/lib/start. */
