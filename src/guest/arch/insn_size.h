/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The size of an instruction, from its bytes: for code in files. */
#ifndef GT_GUEST_ARCH_INSN_SIZE_H
#define GT_GUEST_ARCH_INSN_SIZE_H

#include "guest/arch/arch.h"

/* True if gt_arch_insn_size supports the architecture; NULL: false. */
bool gt_arch_insn_size_known(const struct gt_arch *arch);

/* Returns the size of the instruction at `bytes`, of which `left` (at least 1) are readable:
 * 1..left. An invalid or incomplete instruction has the architecture's smallest size. */
size_t gt_arch_insn_size(const struct gt_arch *arch, const uint8_t *bytes, size_t left);

/* True for an instruction of that size, as the host says it, that is 16-bit code: it would be
 * shorter or longer in 32-bit and in 64-bit code. False where the architecture has no such code. */
bool gt_arch_is_16_bit(const struct gt_arch *arch, const uint8_t *bytes, size_t size);

/* Walks through the `n` bytes of code at pc, of which `left` are readable. True if an instruction
 * ends exactly after n bytes: *last is its classification. False also if the architecture is not
 * supported. */
bool gt_arch_last_insn(const struct gt_arch *arch, const uint8_t *bytes, size_t n, size_t left,
                       uint64_t pc, struct gt_arch_insn *last);

#endif
