/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The effect of an instruction on control flow, from its bytes alone: one table for each
 * architecture.
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

enum gt_arch_insn_kind {
    GT_INSN_OTHER =
        0, /* continues with the next instruction (or traps, which classification cannot see) */
    GT_INSN_CALL,             /* stores a return address; target known */
    GT_INSN_CALL_INDIRECT,    /* stores a return address; target in a register or memory */
    GT_INSN_RETURN,           /* jumps to a call's return address */
    GT_INSN_JUMP,             /* unconditional, target known */
    GT_INSN_BRANCH,           /* conditional, target known */
    GT_INSN_JUMP_INDIRECT,    /* target in a register or memory */
    GT_INSN_EXCEPTION_RETURN, /* eret, iret, sysret, mret, ... : resumes the interrupted code */
    GT_INSN_SYSCALL, /* a call of the next privilege level: svc, hvc, smc, ecall, syscall, int */
    GT_INSN_TRAP,    /* a deliberate exception: brk, ebreak, int3, ud2, ... */
    GT_INSN_STACK_SWITCH, /* loads the stack pointer from anything but itself and the frame pointer
                           */
    GT_INSN_VECTOR_WRITE, /* writes a vector base: VBAR_ELx, IDT, LSTAR, stvec, mtvec */
};

struct gt_arch_insn {
    uint8_t kind;     /* enum gt_arch_insn_kind */
    bool conditional; /* a call or return that may not be taken (32-bit arm) */
    uint64_t target;  /* CALL, JUMP, BRANCH: the target; else 0 */
};

/* How an instruction uses the stack pointer when threads are switched, beside GT_INSN_STACK_SWITCH.
 *
 */
enum gt_arch_stack_use {
    GT_STACK_OTHER = 0,
    GT_STACK_STORED, /* stores it, or a copy of it, outside its own stack */
    GT_STACK_OWN,    /* loads it from its own stack or from a word of the CPU: not that of another
                        thread */
};

/* What an instruction does with the word on top of the stack, if that is the return address of a
 * call that has just arrived. */
enum gt_arch_return_word {
    GT_RETURN_WORD_KEPT = 0,     /* nothing, and it stays on top */
    GT_RETURN_WORD_DROPPED,      /* moves the stack pointer over it, without a look at it */
    GT_RETURN_WORD_DROPPED_MORE, /* and over others that calls have stored before it */
    GT_RETURN_WORD_REPLACED,     /* stores another address there */
    GT_RETURN_WORD_USED,         /* something else, or it is no longer on top */
};

/* How an instruction moves the stack pointer, and the memory that it accesses relative to it. */
struct gt_arch_sp_step {
    bool unknown;     /* it moves it by an amount that the bytes do not show, or sets it */
    bool accesses;    /* its only access of memory begins `at` bytes above the old stack pointer */
    bool by_register; /* adds a register to it: unknown, within its own stack */
    bool links;       /* copies the register of a return address to another register */
    int32_t at, by;   /* by: bytes that it is moved up */
};

/* The effect of an instruction on the stack as a list of values. */
struct gt_arch_push {
    int8_t by;      /* number of values pushed; negative: popped */
    uint8_t width;  /* bytes of a pushed constant that may be a code address; 0: no such constant */
    uint64_t value; /* that constant */
};

enum {
    GT_POPPED_SP = 3
}; /* words above sp_register where an instruction of gt_arch.pops_sp finds the new stack pointer */

struct gt_arch {
    const char *name;              /* the name in uftrace and QEMU's target_name: "aarch64" */
    const char *const *qemu_names; /* the QEMU target names of this architecture, NULL-terminated */
    uint16_t e_machine;            /* ELF e_machine */
    uint8_t bits;                  /* 32 or 64 */
    uint8_t insn_min, insn_max;    /* shortest and longest instruction, bytes */
    /* Bytes from the stack pointer, where Linux enters a program's signal handler of SA_SIGINFO, to
     * the interrupted program counter (0: not known), stack pointer, and register of the return
     * address (0: calls store it in memory). */
    uint16_t signal_pc, signal_sp, signal_link;
    const char *sp_register;         /* the stack pointer's name in QEMU's register list */
    const char *const *fp_registers; /* candidates for the frame pointer's name, NULL-terminated */

    /* Classifies the instruction of `size` bytes at `bytes`, which runs at address `pc`. Always
     * fills *out; invalid instructions are GT_INSN_OTHER. */
    void (*classify)(const uint8_t *bytes, size_t size, uint64_t pc, struct gt_arch_insn *out);

    /* True where the bytes that end at `end` may be a call instruction, so that `end` may be a
     * return address: `left` bytes before `end` are readable. May return true wrongly
     * (variable-length code read backwards), but never false for a call. */
    bool (*may_follow_call)(const uint8_t *end, size_t left);

    /* Returns the enum gt_arch_stack_use of an instruction; NULL: unknown for the architecture.
     * *copies has a bit for each register that holds a copy of the stack pointer: the caller sets
     * it to 0 at the beginning of a block, and the function updates it with each instruction. */
    uint8_t (*stack_use)(const uint8_t *bytes, size_t size, uint32_t *copies);
    /* The registers of *copies that are neither the stack nor the frame pointer. */
    uint32_t sp_copies;

    /* Fills *out for any instruction. NULL: not known for the architecture. */
    void (*sp_step)(const uint8_t *bytes, size_t size, struct gt_arch_sp_step *out);
    /* True where an indirect jump goes through the register of return addresses, or through the
     * stack. NULL: never. */
    bool (*jumps_by_link)(const uint8_t *bytes, size_t size);

    /* True only where the instruction does nothing but move memory from or to registers: the host
     * ends no block for its sake. Not all such instructions are known. */
    bool (*is_plain_access)(const uint8_t *bytes, size_t size);

    /* Returns in *out what an instruction pushes. NULL: the architecture has no such instructions.
     *
     */
    void (*pushes)(const uint8_t *bytes, size_t size, struct gt_arch_push *out);

    /* Returns the enum gt_arch_return_word of an instruction: a call that arrives there is none if
     * its return address is dropped or replaced. NULL: the architecture has no such code. */
    uint8_t (*return_word)(const uint8_t *bytes, size_t size);

    /* Returns the size of an instruction that code has after a call as a trap for the CPU's
     * speculation, or as padding; 0: it is another one. Only `left` bytes, at least one, are
     * readable: if they begin such an instruction, more than `left`. *stops: control does not pass
     * it. NULL: the architecture has no such code. */
    size_t (*trap_size)(const uint8_t *bytes, size_t left, bool *stops);

    /* Names of the registers that say where handlers begin, NULL-terminated, and whether such a
     * value says so of pc; NULL: not known. */
    const char *const *vector_registers;
    bool (*is_vector)(uint64_t value, uint64_t pc);
    /* True where code looks like a handler's first, as no other does. It begins `at` bytes after
     * the beginning of a page, all of which is readable. NULL: nothing is known of its looks. */
    bool (*begins_handler)(const uint8_t *bytes, size_t at);

    /* Handlers begin at multiples of vector_align, a power of two. In the upper half of the address
     * space, where compiled kernels run, they begin at multiples of vector_align_high, which is at
     * least vector_align. */
    uint16_t vector_align, vector_align_high;
    /* Code below this address is a PC's BIOS, whose exception returns match no interrupt. */
    uint32_t vector_lowest;
    /* Where the handler of a system management interrupt begins, from the base of CS on; 0: there
     * are no such interrupts. */
    uint16_t smi_entry;
    /* The size of a table of handlers, a power of two to which the table is aligned; 0: handlers
     * have no table. */
    uint16_t vector_table;
    /* Where the stack pointer after an exception return is found before the instruction runs: in
     * the register returned_sp (NULL: unknown); or, if pops_sp returns true for the instruction, in
     * memory, GT_POPPED_SP words above sp_register (NULL: never). */
    const char *returned_sp;
    bool (*pops_sp)(const uint8_t *bytes, size_t size);
    /* QEMU's names of the registers of a call's first and second arguments. */
    const char *first_argument, *second_argument;
};

/* True if the pushed constant is the address, or its offset in a real-mode segment. */
bool gt_arch_push_is(const struct gt_arch_push *push, uint64_t addr);

/* Finds an architecture by QEMU target name ("x86_64"); NULL: unknown. */
const struct gt_arch *gt_arch_by_target(const char *qemu_target);
/* Finds an architecture by ELF e_machine and class (32, 64); NULL: unknown. */
const struct gt_arch *gt_arch_by_elf(uint16_t e_machine, unsigned bits);
/* Returns each architecture, for tests and lists: index 0, 1, ... until NULL. */
const struct gt_arch *gt_arch_at(size_t index);

/* Returns a static name, "call", "return", ..., for messages and tests. */
const char *gt_arch_insn_kind_name(enum gt_arch_insn_kind kind);

extern const struct gt_arch gt_arch_aarch64;
extern const struct gt_arch gt_arch_i386;
extern const struct gt_arch gt_arch_riscv64;
extern const struct gt_arch gt_arch_x86_64;

/*
 * Numbers of the Linux system calls that affect a guest's control flow, by target. Source: the
 * kernel's unistd tables (asm-generic for aarch64 and riscv64).
 */

struct gt_arch_syscalls {
    const char *target;                            /* QEMU's target name */
    int16_t rt_sigaction, rt_sigreturn, sigreturn; /* -1: the target has no such call */
    int16_t execve, execveat, exit, exit_group;
    int16_t mmap, munmap, clone, prctl;
};

/* NULL: the target is unknown. */
const struct gt_arch_syscalls *gt_arch_syscalls_by_target(const char *target);

#endif
