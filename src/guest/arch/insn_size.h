/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long an instruction is, from its bytes: for code that lies in a file. */
#ifndef GT_GUEST_ARCH_INSN_SIZE_H
#define GT_GUEST_ARCH_INSN_SIZE_H

#include "guest/arch/arch.h"

/* True where gt_arch_insn_size knows the architecture's instructions; NULL: false. */
bool gt_arch_insn_size_known(const struct gt_arch *arch);

/* Bytes of the instruction at `bytes`, of which `left` (at least 1) are readable: 1..left. What is
 * no instruction, or cut off, has the least size that the architecture's have. */
size_t gt_arch_insn_size(const struct gt_arch *arch, const uint8_t *bytes, size_t left);

/* Goes through the `n` bytes of code that begin at pc, of which `left` are readable: true where an
 * instruction ends with them, and *last is what that one does. False also where the architecture's
 * instructions are not known. */
bool gt_arch_last_insn(const struct gt_arch *arch, const uint8_t *bytes, size_t n, size_t left,
                       uint64_t pc, struct gt_insn *last);

#endif
