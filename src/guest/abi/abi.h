/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calling conventions: where a function's parameters are at its first instruction, and its result
 * at its return instruction. One file and one row of the table a convention.
 *
 * Registers have the names that QEMU gives them (its gdbstub and plugin interface). Offsets on the
 * stack count from the stack pointer before the first instruction runs: on x86 the return address
 * is at 0.
 */
#ifndef GT_GUEST_ABI_ABI_H
#define GT_GUEST_ABI_ABI_H

#include "base/error.h"
#include "guest/types/prototypes.h"

enum { GT_ABI_PIECES = 4, GT_ABI_REGISTERS = 8 };

/* A part of a value in one register, or on the stack. */
struct gt_abi_piece {
    const char *reg;   /* NULL: on the stack */
    uint32_t in_reg;   /* first byte of the register */
    int32_t stack;     /* offset from the stack pointer */
    uint32_t in_value; /* first byte of the value */
    uint32_t size;     /* bytes */
};

struct gt_abi_value {
    const char *unknown; /* NULL, or why it is not known where the value is */
    uint32_t size;       /* bytes of the value */
    bool by_reference;   /* the pieces are the value's address, not the value */
    bool at_entry;       /* result: its address is where the pieces say at the first instruction */
    bool extended;       /* the register has a float in x87's 80 bits, whatever its type */
    uint8_t n;           /* pieces; 0: no bytes are passed */
    struct gt_abi_piece piece[GT_ABI_PIECES];
};

struct gt_abi_call;

struct gt_abi {
    const char *name;   /* "aarch64", "i386-regparm" */
    const char *target; /* QEMU's name of the architecture */
    uint16_t e_machine;
    uint8_t bits;        /* 32 or 64 */
    uint8_t slot;        /* bytes of a register and of a stack slot of integers */
    uint8_t first_stack; /* offset of the first argument on the stack */
    uint8_t align_most;  /* largest alignment of a scalar in a struct */
    uint8_t n_integer, n_float;
    const char *integer[GT_ABI_REGISTERS]; /* registers of arguments, in order */
    const char *floating[GT_ABI_REGISTERS];
    const char *result, *float_result;
    const char *syscall[6], *syscall_number; /* at the instruction of a system call of Linux */
    /* The register of a DWARF number; NULL: it holds no arguments or results. */
    const char *(*dwarf)(unsigned number);
    /* Place the next parameter; the result, which may take an argument's place for its address. */
    void (*pass)(struct gt_abi_call *call, uint32_t type, struct gt_abi_value *value);
    void (*give)(struct gt_abi_call *call, uint32_t type, struct gt_abi_value *value);
};

/* The convention of C functions; NULL: unknown. */
const struct gt_abi *gt_abi_by_elf(uint16_t e_machine, unsigned bits);
/* By its name or QEMU's target; NULL: unknown. */
const struct gt_abi *gt_abi_by_name(const char *name);
/* That of a Linux kernel's functions; NULL: unknown. */
const struct gt_abi *gt_abi_of_kernel(uint16_t e_machine, unsigned bits);
/* The one of that name (a plugin's abi=) for guests of the target; NULL means the target's own.
 * *out NULL: that is unknown. GT_E_USAGE: the target has none of that name. */
int gt_abi_of_target(const char *target, const char *name, const struct gt_abi **out,
                     struct gt_error *err);
/* Each of them, for lists and tests: index 0, 1, ... until NULL. */
const struct gt_abi *gt_abi_at(size_t index);

/* Places the parameters and the result of a function by the convention alone. `type`: of kind
 * GT_TYPE_FUNCTION; `param` has an element for each of its parameters. */
void gt_abi_place(const struct gt_abi *abi, const struct gt_types *types, uint32_t type,
                  struct gt_abi_value *result, struct gt_abi_value *param);

/* The same of a prototype: what the compiler says of its parameters comes before the convention. */
void gt_abi_place_prototype(const struct gt_abi *abi, const struct gt_type_prototypes *p,
                            const struct gt_type_prototype *item, struct gt_abi_value *result,
                            struct gt_abi_value *param);

/* Argument `number` (from 1) of a function without a prototype, if all those before it are integers
 * or pointers (is_float: floats, counted on their own) of a register's size. False: there is no
 * such argument. */
bool gt_abi_argument(const struct gt_abi *abi, unsigned number, bool is_float,
                     struct gt_abi_value *value);

/* The same of a long double of 10 bytes (x87) or 16 (IEEE); number 0: a result. False also for an
 * argument whose place depends on those before it. */
bool gt_abi_long_double(const struct gt_abi *abi, unsigned number, unsigned size,
                        struct gt_abi_value *value);

extern const struct gt_abi gt_abi_aarch64;
extern const struct gt_abi gt_abi_i386;
extern const struct gt_abi gt_abi_i386_regparm;
extern const struct gt_abi gt_abi_riscv64;
extern const struct gt_abi gt_abi_x86_64;

#endif
