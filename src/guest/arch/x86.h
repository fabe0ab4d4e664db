/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The x86 decoder that the x86_64 and the i386 architecture share.
 *
 * A guest of either may run 16-bit code (every PC starts in it), and an x86_64 guest also 32-bit
 * code. The host does not report the mode, but it reports the instruction's size, which resolves
 * all forms but the few that x86.c lists.
 */
#ifndef GT_GUEST_ARCH_X86_H
#define GT_GUEST_ARCH_X86_H

#include "guest/arch/arch.h"

/* Bytes of the longest instruction of any mode. */
enum { GT_X86_INSN_MAX = 15 };

/* gt_arch.classify. long_mode: 40-4F are REX prefixes if more bytes follow, and targets have 64
 * bits (else 32). */
void gt_arch_x86_classify(const uint8_t *bytes, size_t size, uint64_t pc, bool long_mode,
                          struct gt_arch_insn *out);

/* gt_arch.pushes, of every mode. */
void gt_arch_x86_pushes(const uint8_t *bytes, size_t size, struct gt_arch_push *out);

/* gt_arch.stack_use, return_word and trap_size, of 32- and 64-bit code. */
uint8_t gt_arch_x86_stack_use(const uint8_t *bytes, size_t size, uint32_t *copies);
enum { GT_X86_SP_COPIES = 0xffff & ~(1 << 4 | 1 << 5) };
uint8_t gt_arch_x86_return_word(const uint8_t *bytes, size_t size);
size_t gt_arch_x86_trap_size(const uint8_t *bytes, size_t left, bool *stops);

/* gt_arch.sp_step, of 32- and 64-bit code whose addresses have `width` bytes; jumps_by_link. */
void gt_arch_x86_sp_step(const uint8_t *bytes, size_t size, int width, struct gt_arch_sp_step *out);
bool gt_arch_x86_jumps_by_link(const uint8_t *bytes, size_t size);

/* gt_arch.is_plain_access, of every mode. */
bool gt_arch_x86_is_plain_access(const uint8_t *bytes, size_t size);

/* gt_arch.pops_sp, of every mode. */
bool gt_arch_x86_pops_sp(const uint8_t *bytes, size_t size);

/* gt_arch.may_follow_call, of every mode. */
bool gt_arch_x86_may_follow_call(const uint8_t *end, size_t left);

#endif
