/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guests of riscv64, in VS mode: see guest.h. */
#ifdef GUESTS
#include "kernel.h"
#include "riscv64.inc"
#define G_X      128
#define G_PC     384
#define G_SP     392
#define G_OWN    424
#define HSTATUS  0x600
#define VSSTATUS 0x200
#define VSEPC    0x241
#define TO_GUEST 0x180 /* of hstatus: SPV, SPVP */
#define SPP      0x100

/* What a callee saves, and the hart. */
.macro callee_saved op
        \op ra, 0(a0)
        \op sp, 8(a0)
        \op tp, 16(a0)
        \op gp, 24(a0)
        \op s0, 32(a0)
        \op s1, 40(a0)
        .irp n, 2,3,4,5,6,7,8,9,10
        \op s\n, 32 + 8 * \n(a0)
        .endr
.endm
/* All but sp and a0. */
.macro all op
        \op x1, G_X + 8(a0)
        .irp n, 3,4,5,6,7,8,9,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        \op x\n, G_X + 8 * \n(a0)
        .endr
.endm

        .text
function k_guest_enter
        callee_saved sd
        sd s11, 408(a0) /* the vector's place, which aarch64 has */
        la t0, k_guest_left
        csrrw t0, stvec, t0
        sd t0, 120(a0)
        li t0, TO_GUEST
        csrs HSTATUS, t0
        li t0, SPP
        csrs sstatus, t0
        ld t0, G_PC(a0)
        csrw sepc, t0
        ld t0, G_OWN(a0)
        csrw VSEPC, t0
        ld t0, G_OWN + 8(a0)
        csrw VSSTATUS, t0
        csrw sscratch, a0
        all ld
        ld sp, G_SP(a0)
        ld a0, G_X + 80(a0)
        sret
end k_guest_enter
        .balign 4
function k_guest_left
        csrrw a0, sscratch, a0
        sd sp, G_SP(a0)
        all sd
        csrrw t0, sscratch, zero
        sd t0, G_X + 80(a0)
        csrr t0, sepc
        csrr t1, scause
        bltz t1, 1f
        addi t0, t0, 4 /* after the call */
1:      sd t0, G_PC(a0)
        csrr t0, VSEPC
        sd t0, G_OWN(a0)
        csrr t0, VSSTATUS
        sd t0, G_OWN + 8(a0)
        li t0, TO_GUEST
        csrc HSTATUS, t0
        ld t0, 120(a0)
        csrw stvec, t0
        ld s11, 408(a0)
        callee_saved ld
        srli a0, t1, 63
        ret
end k_guest_left

/* A guest's own trap. */
        .balign 16
function vector_guest
        addi sp, sp, -160
        sd ra, 0(sp)
        .irp n, 5,6,7,10,11,12,13,14,15,16,17
        sd x\n, 8 * \n - 32(sp)
        .endr
        sd x28, 112(sp)
        sd x29, 120(sp)
        sd x30, 128(sp)
        sd x31, 136(sp)
        csrr t0, sepc
        sd t0, 144(sp)
        call k_guest_trap
        ld t0, 144(sp)
        addi t0, t0, 4
        csrw sepc, t0
        ld ra, 0(sp)
        .irp n, 5,6,7,10,11,12,13,14,15,16,17
        ld x\n, 8 * \n - 32(sp)
        .endr
        ld x28, 112(sp)
        ld x29, 120(sp)
        ld x30, 128(sp)
        ld x31, 136(sp)
        addi sp, sp, 160
        sret
end vector_guest
#endif
        .section .note.GNU-stack, "", @progbits
