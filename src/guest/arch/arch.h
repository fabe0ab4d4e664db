/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an instruction does to the flow of control, from its bytes alone: one table an architecture.
 *
 * An architecture is one file, arch_<name>.c, that defines one const struct gt_arch, and one row in
 * arch.c. The host (QEMU) says where an instruction starts and how long it is; classification never
 * has to find a length, and never reads past `size`.
 */
#ifndef GT_GUEST_ARCH_ARCH_H
#define GT_GUEST_ARCH_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gt_insn_kind {
    GT_INSN_OTHER = 0,        /* goes on to the next instruction (or traps, unseen by us) */
    GT_INSN_CALL,             /* leaves a return address; target known */
    GT_INSN_CALL_INDIRECT,    /* leaves a return address; target in a register or memory */
    GT_INSN_RETURN,           /* goes where a call's return address says */
    GT_INSN_JUMP,             /* unconditional, target known */
    GT_INSN_BRANCH,           /* conditional, target known */
    GT_INSN_JUMP_INDIRECT,    /* target in a register or memory */
    GT_INSN_EXCEPTION_RETURN, /* eret, iret, sysret, mret, ... : resumes what was interrupted */
    GT_INSN_SYSCALL, /* a call of the next privilege level: svc, hvc, smc, ecall, syscall, int */
    GT_INSN_TRAP,    /* an exception on purpose: brk, ebreak, int3, ud2, ... */
    GT_INSN_STACK_SWITCH, /* loads the stack pointer from what is neither it nor the frame pointer
                           */
    GT_INSN_VECTOR_WRITE, /* sets where exceptions go: VBAR_ELx, IDT, LSTAR, stvec, mtvec */
};

struct gt_insn {
    uint8_t kind;     /* enum gt_insn_kind */
    bool conditional; /* a call or return that may not happen (32-bit arm) */
    uint64_t target;  /* CALL, JUMP, BRANCH: where to; else 0 */
};

/* What an instruction does with the stack pointer as a thread's, beside GT_INSN_STACK_SWITCH. */
enum gt_stack_use {
    GT_STACK_OTHER = 0,
    GT_STACK_STORED, /* stores it, or a copy of it, elsewhere than on that stack */
    GT_STACK_OWN,    /* loads it from its own stack, or from a word of the CPU: no other thread's */
};

/* What an instruction does to the stack as a list of values. */
struct gt_push {
    int8_t by;      /* so many are pushed; popped, where it is less than 0 */
    uint8_t width;  /* bytes of a constant that may be an address of code; 0: it is none */
    uint64_t value; /* that constant */
};

enum { GT_POPPED_SP = 3 }; /* of gt_arch.pops_sp */

struct gt_arch {
    const char *name;                /* as uftrace and QEMU's target_name say it: "aarch64" */
    const char *const *qemu_names;   /* QEMU target names it serves, NULL-terminated */
    uint16_t e_machine;              /* ELF e_machine */
    uint8_t bits;                    /* 32 or 64 */
    uint8_t insn_min, insn_max;      /* shortest and longest instruction, bytes */
    const char *sp_register;         /* the stack pointer's name in QEMU's register list */
    const char *const *fp_registers; /* candidates for the frame pointer's name, NULL-terminated */

    /* Classifies the instruction of `size` bytes at `bytes`, which runs at address `pc`.
     * Always fills *out; bytes that are no instruction give GT_INSN_OTHER. */
    void (*classify)(const uint8_t *bytes, size_t size, uint64_t pc, struct gt_insn *out);

    /* True where the bytes that end at `end` may be a call instruction, so that `end` may be a
     * return address: `left` bytes before `end` are readable. May say true too often (variable
     * length code read backwards), never false for a call. */
    bool (*may_follow_call)(const uint8_t *end, size_t left);

    /* enum gt_stack_use of an instruction; NULL: not known for the architecture. *copies are the
     * registers that hold the stack pointer's value, a bit each: 0 where a block begins, kept by
     * the function from instruction to instruction. */
    uint8_t (*stack_use)(const uint8_t *bytes, size_t size, uint32_t *copies);

    /* What an instruction pushes. NULL: there are no such instructions. */
    void (*pushes)(const uint8_t *bytes, size_t size, struct gt_push *out);

    /* `after` stands behind a call whose target is `over` bytes on, with `left` bytes readable
     * there. True where that drops the return address: such calls only fill or empty the CPU's
     * predictor. NULL: no such code. */
    bool (*drops_return)(const uint8_t *after, size_t over, size_t left);

    /* Handlers begin at multiples of this: a power of two. In the upper half of the addresses,
     * where kernels run that were built by compilers, of vector_align_high, which is no less. */
    uint16_t vector_align, vector_align_high;
    /* Below this, code may not be what it seems: the BIOS of a PC. */
    uint32_t vector_lowest;
    /* The size of a table of them, which is aligned to that: a power of two; 0: they are apart. */
    uint16_t vector_table;
    /* The stack pointer that an exception return goes on with, before it runs: in this register;
     * or, where pops_sp says so of the instruction, in memory, GT_POPPED_SP words above
     * sp_register. NULL: not known; never there. */
    const char *returned_sp;
    bool (*pops_sp)(const uint8_t *bytes, size_t size);
    /* The registers of a call's first and second arguments, as QEMU calls them. */
    const char *first_argument, *second_argument;
};

/* True where the constant is that address, or its offset in a segment of real mode. */
bool gt_push_is(const struct gt_push *push, uint64_t addr);

/* By QEMU target name ("x86_64"); NULL where we do not know the architecture. */
const struct gt_arch *gt_arch_by_target(const char *qemu_target);
/* By ELF e_machine and class (32, 64); NULL likewise. */
const struct gt_arch *gt_arch_by_elf(uint16_t e_machine, unsigned bits);
/* All of them, for tests and lists: index 0, 1, ... until NULL. */
const struct gt_arch *gt_arch_at(size_t index);

/* "call", "return", ...: static, for messages and tests. */
const char *gt_insn_kind_name(enum gt_insn_kind kind);

extern const struct gt_arch gt_arch_aarch64;
extern const struct gt_arch gt_arch_i386;
extern const struct gt_arch gt_arch_riscv64;
extern const struct gt_arch gt_arch_x86_64;

#endif
