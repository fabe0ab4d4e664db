/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What QEMU's target names mean in a stream: ELF machine, address bits, byte order. */
#ifndef GT_ETRACE_PLUGIN_TARGET_H
#define GT_ETRACE_PLUGIN_TARGET_H

#include "etrace/format/etrace.h"

/* The guest by its target, and this host. False: the target is unknown. */
bool gt_etrace_arch_of(const char *target, struct gt_etrace_arch *out);
/* Bytes of an ELF machine's longest instructions, where most are as long; 0: the sizes vary. */
uint8_t gt_etrace_longest_insn(uint32_t machine);

#endif
