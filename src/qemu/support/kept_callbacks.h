/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hosts without GT_HOST_MEMORY_AT_EXIT keep the memory callbacks of an instruction that ends its
 * block: later instructions that the host emulates in C call them, unless they have callbacks of
 * their own; and where code was discarded in between, they are freed memory. So a tool sets none
 * on such an instruction, or sets some on every other one.
 */
#ifndef GT_QEMU_SUPPORT_KEPT_CALLBACKS_H
#define GT_QEMU_SUPPORT_KEPT_CALLBACKS_H

#include "guest/arch/arch.h"
#include "qemu/host.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether callbacks of the instruction are never kept. `last`: no other one follows in its block;
 * `arch`: NULL: unknown. */
bool gt_support_callbacks_end(const struct gt_arch *arch, uint64_t pc, const uint8_t *bytes,
                              size_t size, bool last);

/* The instruction, the last of its block, is not watched: an interrupt of an x86 machine stores
 * for no instruction, and would find callbacks that the host keeps. */
bool gt_support_callbacks_reach_interrupts(const struct gt_arch *arch, bool system,
                                           const struct gt_host_insn *last);

/* An instruction of which the tool wants nothing, in a program of which it watches others: where
 * the host keeps callbacks, those do not reach it. */
void gt_support_callbacks_keep_out(const struct gt_arch *arch, struct gt_host_insn *insn);

#endif
