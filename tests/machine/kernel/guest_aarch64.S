/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guests of aarch64: see guest.h. */
#ifdef GUESTS
#include "aarch64.inc"
#include "kernel.h"
#define G_X       128
#define G_PC      384
#define G_SP      392
#define G_STATUS  400
#define G_VECTOR  408
#define G_TABLES  416
#define G_OWN     424
#ifdef NVHE
#define ELR_GUEST  elr_el1
#define SPSR_GUEST spsr_el1
#else
#define ELR_GUEST  s3_5_c4_c0_1
#define SPSR_GUEST s3_5_c4_c0_0
#endif
#define HCR_HOST  ((1 << 31) | HCR_E2H | HCR_TGE)
#define HCR_GUEST ((1 << 31) | HCR_E2H | HCR_IMO | 1)
#define HCR_IMO   (1 << 4)
#ifdef NVHE
#define HCR_E2H   0
#define HCR_TGE   0
#else
#define HCR_E2H   (1 << 34)
#define HCR_TGE   (1 << 27)
#endif

.macro hyp_vector to
        .balign 128
        .type k_hyp_vector\@, %function
k_hyp_vector\@:
        b \to
.endm
.macro general op, base
        \op x2, x3, [\base, #G_X + 16]
        \op x4, x5, [\base, #G_X + 32]
        \op x6, x7, [\base, #G_X + 48]
        \op x8, x9, [\base, #G_X + 64]
        \op x10, x11, [\base, #G_X + 80]
        \op x12, x13, [\base, #G_X + 96]
        \op x14, x15, [\base, #G_X + 112]
        \op x16, x17, [\base, #G_X + 128]
        \op x18, x19, [\base, #G_X + 144]
        \op x20, x21, [\base, #G_X + 160]
        \op x22, x23, [\base, #G_X + 176]
        \op x24, x25, [\base, #G_X + 192]
        \op x26, x27, [\base, #G_X + 208]
        \op x28, x29, [\base, #G_X + 224]
.endm
.macro callee_saved op
        \op x19, x20, [x0]
        \op x21, x22, [x0, #16]
        \op x23, x24, [x0, #32]
        \op x25, x26, [x0, #48]
        \op x27, x28, [x0, #64]
        \op x29, x30, [x0, #80]
.endm

        .text
        .balign 2048
function k_hyp_vectors
        .rept 8
        hyp_vector k_hyp_bad
        .endr
        hyp_vector k_hyp_called
        hyp_vector k_hyp_interrupted
        .rept 6
        hyp_vector k_hyp_bad
        .endr
end k_hyp_vectors

function k_hyp_bad
        b .
end k_hyp_bad

/* x0: the guest. */
function k_hyp_enter
        callee_saved stp
        msr tpidr_el2, x0
        ldr x1, =HCR_GUEST
        msr hcr_el2, x1
        ldp x1, x2, [x0, #G_OWN]
        msr ELR_GUEST, x1
        msr SPSR_GUEST, x2
        ldr x1, [x0, #G_TABLES]
        msr vttbr_el2, x1
        ldr x1, [x0, #G_PC]
        msr elr_el2, x1
        ldr x1, [x0, #G_SP]
        msr sp_el1, x1
        ldr x1, [x0, #G_STATUS]
        msr spsr_el2, x1
        isb
        general ldp, x0
        ldr x30, [x0, #G_X + 240]
        ldp x0, x1, [x0, #G_X]
        eret
end k_hyp_enter

function k_hyp_interrupted
        stp x0, x1, [sp, #-16]!
        mov x1, #1
        b k_hyp_exit
end k_hyp_interrupted

function k_hyp_exit
        mrs x0, tpidr_el2
        general stp, x0
        str x30, [x0, #G_X + 240]
        ldp x2, x3, [sp], #16
        stp x2, x3, [x0, #G_X]
        msr tpidr_el2, xzr
        mrs x2, elr_el2
        str x2, [x0, #G_PC]
        mrs x2, ELR_GUEST
        mrs x3, SPSR_GUEST
        stp x2, x3, [x0, #G_OWN]
        mrs x2, sp_el1
        str x2, [x0, #G_SP]
        mrs x2, spsr_el2
        str x2, [x0, #G_STATUS]
        callee_saved ldp
        ldr x2, =HCR_HOST
        msr hcr_el2, x2
        isb
        mov x0, x1
        ret
end k_hyp_exit

#ifdef NVHE
/* By the host: runs a guest, and returns to it. By a guest: it leaves. */
function k_hyp_called
        stp x0, x1, [sp, #-16]!
        mrs x1, tpidr_el2
        cbnz x1, 1f
        ldp x0, x1, [sp], #16
        b k_hyp_run
1:      mov x1, #0
        b k_hyp_exit
end k_hyp_called

function k_hyp_run
        mrs x1, elr_el2
        mrs x2, spsr_el2
        stp x1, x2, [sp, #-96]!
        mrs x1, sp_el1
        mrs x2, vbar_el1
        stp x1, x2, [sp, #16]
        mrs x1, elr_el1
        mrs x2, spsr_el1
        stp x1, x2, [sp, #32]
        mrs x1, sp_el0
        stp x1, x0, [sp, #48]
        stp x29, x30, [sp, #64]
        ldr x1, [x0, #G_VECTOR]
        msr vbar_el1, x1
        bl k_hyp_enter
        ldp x1, x2, [sp]
        msr elr_el2, x1
        msr spsr_el2, x2
        ldp x1, x2, [sp, #16]
        msr sp_el1, x1
        msr vbar_el1, x2
        ldp x1, x2, [sp, #32]
        msr elr_el1, x1
        msr spsr_el1, x2
        ldp x1, x2, [sp, #48]
        msr sp_el0, x1
        ldp x29, x30, [sp, #64]
        add sp, sp, #96
        eret
end k_hyp_run

function k_guest_enter
        hvc #0
        ret
end k_guest_enter
#else
function k_hyp_called
        stp x0, x1, [sp, #-16]!
        mov x1, #0
        b k_hyp_exit
end k_hyp_called

function k_guest_enter
        stp x29, x30, [sp, #-32]!
        mrs x1, vbar_el2
        mrs x2, sp_el0
        stp x1, x2, [sp, #16]
        ldr x1, =k_hyp_vectors
        msr vbar_el2, x1
        ldr x1, [x0, #G_VECTOR]
        .inst 0xd51dc001 /* msr vbar_el12, x1 */
        bl k_hyp_enter
        ldp x1, x2, [sp, #16]
        msr vbar_el2, x1
        msr sp_el0, x2
        ldp x29, x30, [sp], #32
        ret
end k_guest_enter
#endif

/* A guest's own trap. */
        .balign 2048
k_guest_vectors:
        .rept 4
        .balign 128
        b .
        .endr
        .balign 128
        .globl vector_guest
        .type vector_guest, %function
vector_guest:
        sub sp, sp, #256
        stp x0, x1, [sp]
        b k_guest_trap_entry
        .size vector_guest, . - vector_guest
        .balign 2048
function k_guest_trap_entry
        stp x2, x3, [sp, #16]
        stp x4, x5, [sp, #32]
        stp x6, x7, [sp, #48]
        stp x8, x9, [sp, #64]
        stp x10, x11, [sp, #80]
        stp x12, x13, [sp, #96]
        stp x14, x15, [sp, #112]
        stp x16, x17, [sp, #128]
        stp x18, x30, [sp, #144]
        mrs x2, elr_el1
        mrs x3, spsr_el1
        stp x2, x3, [sp, #160]
        bl k_guest_trap
        ldp x2, x3, [sp, #160]
        msr elr_el1, x2
        msr spsr_el1, x3
        ldp x2, x3, [sp, #16]
        ldp x4, x5, [sp, #32]
        ldp x6, x7, [sp, #48]
        ldp x8, x9, [sp, #64]
        ldp x10, x11, [sp, #80]
        ldp x12, x13, [sp, #96]
        ldp x14, x15, [sp, #112]
        ldp x16, x17, [sp, #128]
        ldp x18, x30, [sp, #144]
        ldp x0, x1, [sp], #256
        eret
end k_guest_trap_entry

/* Where the machine begins, at EL2. */
function k_hyp_start
        ldr x0, =k_hyp_stack
        mov sp, x0
        ldr x0, =k_hyp_vectors
        msr vbar_el2, x0
        ldr x0, =0x80023560 /* 32 bits, from level 1 on, 40 bits of output */
        msr vtcr_el2, x0
        mov x0, #3
        msr cnthctl_el2, x0
        msr cntvoff_el2, xzr
        msr tpidr_el2, xzr
        ldr x0, =HCR_HOST
        msr hcr_el2, x0
        isb
#ifdef NVHE
        mov x0, #0x3c5 /* EL1 */
        msr spsr_el2, x0
        ldr x0, =k_start_other
        msr elr_el2, x0
        mov x0, #0
        eret
#else
        mov x0, #0
        b k_start_other
#endif
end k_hyp_start
        .ltorg

        .section .rodata
        .balign 8
        .globl k_guest_vector_table
k_guest_vector_table:
        .quad k_guest_vectors
        stack k_hyp_stack
#endif
        .section .note.GNU-stack, "", %progbits
