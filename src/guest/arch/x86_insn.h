/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One x86 instruction taken apart as far as its opcode: inside the decoder only.
 */
#ifndef GT_GUEST_ARCH_X86_INSN_H
#define GT_GUEST_ARCH_X86_INSN_H

#include "guest/arch/x86.h"

/* Register numbers, with the REX bit that extends them. */
enum { REG_SP = 4, REG_BP = 5, REG_NONE = -1 };

enum { REX_B = 1, REX_R = 4, REX_W = 8 };

struct x86_insn {
    const uint8_t *tail; /* what follows the opcode */
    size_t left;         /* bytes of it */
    uint8_t opcode;
    bool escape;   /* 0F came before it */
    uint8_t rex;   /* 0: none */
    bool opsize;   /* 66 */
    bool repne;    /* F2 */
    bool rep;      /* F3 */
    bool wide;     /* 64-bit targets */
    uint64_t next; /* address of the next instruction */
};

/* Takes prefixes and the first opcode byte apart; in->next is the caller's. False: no instruction.
 */
bool gt_x86_take_opcode(struct x86_insn *in, const uint8_t *bytes, size_t size, bool long_mode);

/* Bytes of ModRM, SIB and displacement at p with 32- and 64-bit addresses, or with 16-bit ones; 0
 * where more than `left` would be needed. */
size_t gt_x86_modrm_size(const uint8_t *p, size_t left);
size_t gt_x86_modrm_size16(const uint8_t *p, size_t left);

/* The bytes behind the opcode are a ModRM operand and nothing else. */
bool gt_x86_is_modrm(const struct x86_insn *in);

/* The fields of the ModRM byte, which must be there; registers with their REX bit. */
unsigned gt_x86_modrm_op(const struct x86_insn *in);
int gt_x86_modrm_reg(const struct x86_insn *in);
int gt_x86_modrm_rm(const struct x86_insn *in);
bool gt_x86_modrm_is_memory(const struct x86_insn *in);
/* The base register of a memory operand that gt_x86_is_modrm has seen, or REG_NONE. */
int gt_x86_modrm_base(const struct x86_insn *in);

/* Writes the stack pointer from what is neither it nor the frame pointer: see x86_stack.c. */
bool gt_x86_loads_stack_pointer(const struct x86_insn *in);

#endif
