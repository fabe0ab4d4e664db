/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One x86 instruction, decoded up to its opcode; used inside the decoder only.
 */
#ifndef GT_GUEST_ARCH_X86_INSN_H
#define GT_GUEST_ARCH_X86_INSN_H

#include "guest/arch/x86.h"

/* Register numbers, with the REX bit that extends them. */
enum { REG_SP = 4, REG_BP = 5, REG_NONE = -1 };

enum { REX_B = 1, REX_R = 4, REX_W = 8 };

struct x86_insn {
    const uint8_t *tail; /* the bytes after the opcode */
    size_t left;         /* bytes left in tail */
    uint8_t opcode;
    bool escape;   /* the opcode follows a 0F byte */
    uint8_t rex;   /* REX prefix; 0: none */
    bool opsize;   /* prefix 66 */
    bool repne;    /* prefix F2 */
    bool rep;      /* prefix F3 */
    bool wide;     /* 64-bit targets */
    uint64_t next; /* address of the next instruction */
};

/* Decodes prefixes and the first opcode byte; the caller sets in->next. False: invalid. */
bool gt_arch_x86_take_opcode(struct x86_insn *in, const uint8_t *bytes, size_t size,
                             bool long_mode);

/* Return the bytes of ModRM, SIB and displacement at p, for 32- and 64-bit addresses or for 16-bit
 * addresses; 0: more than `left` bytes are needed. */
size_t gt_arch_x86_modrm_size(const uint8_t *p, size_t left);
size_t gt_arch_x86_modrm_size16(const uint8_t *p, size_t left);

/* True if the bytes after the opcode are exactly one ModRM operand. */
bool gt_arch_x86_is_modrm(const struct x86_insn *in);

/* Return fields of the ModRM byte, which must exist; registers include their REX bit. */
unsigned gt_arch_x86_modrm_op(const struct x86_insn *in);
int gt_arch_x86_modrm_reg(const struct x86_insn *in);
int gt_arch_x86_modrm_rm(const struct x86_insn *in);
bool gt_arch_x86_modrm_is_memory(const struct x86_insn *in);
/* The base register of a memory operand that gt_arch_x86_is_modrm has seen, or REG_NONE. */
int gt_arch_x86_modrm_base(const struct x86_insn *in);

/* True if the instruction loads the stack pointer from anything but itself and the frame pointer:
 * see x86_stack.c. */
bool gt_arch_x86_loads_stack_pointer(const struct x86_insn *in);

#endif
