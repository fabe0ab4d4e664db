/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU's board "virt" of aarch64: an instruction of several accesses, to a device each second time. */
        .globl _start
_start: mov x0, #3 << 20
        msr cpacr_el1, x0
        isb
        adrp x1, data
        add x1, x1, :lo12:data
        mov x2, #0x09000000
        eor x2, x2, x1
        mov w3, #11
again:  eor x1, x1, x2
        ld1 {v0.2d, v1.2d}, [x1]
        add x4, x4, #1
        subs w3, w3, #1
        b.ne again
        movz x0, #0x8400, lsl #16
        movk x0, #8
        hvc #0
1:      wfi
        b 1b
        .data
        .balign 64
data:   .space 64
        .section .note.GNU-stack, "", @progbits
/* Its lines are counted, so it uses no macros of tests/lib/start. */
