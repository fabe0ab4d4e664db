/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions whose memory accesses QEMU does not report to plugins, depending on its version: its
 * own functions access memory for them. With flags=mem they are counted by kind, in whole blocks; a
 * kind of which an access was reported is left out. At the end an event of each kind tells how many
 * ran.
 */
#ifndef GT_ETRACE_PLUGIN_UNREPORTED_H
#define GT_ETRACE_PLUGIN_UNREPORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gt_etrace_unreported_kind {
    GT_UNREPORTED_ZERO,       /* a cache line: dc zva, cbo.zero */
    GT_UNREPORTED_SET,        /* aarch64: setp, setm, sete and others */
    GT_UNREPORTED_COPY,       /* aarch64: cpyp, cpyfp and others */
    GT_UNREPORTED_GATHER,     /* aarch64, SVE: gathers and scatters */
    GT_UNREPORTED_CONTIGUOUS, /* aarch64, SVE: all else */
    GT_UNREPORTED_X87,        /* fld and fstp of 80 bits, fbld, fbstp */
    GT_UNREPORTED_X87_STATE,  /* fnstenv, fldenv, fnsave, frstor */
    GT_UNREPORTED_FXSAVE,     /* fxsave, fxrstor */
    GT_UNREPORTED_XSAVE,      /* xsave, xrstor and others */
    GT_UNREPORTED_BLOCK_END,  /* call, ret and others: see gt_etrace_is_unwatched */
    GT_UNREPORTED_KINDS,
};

struct gt_etrace;
struct gt_block;
struct gt_insn_ref;

struct gt_etrace_unreported {
    void *counters;                          /* gt_counters_new; NULL: none are counted */
    uint8_t has_access[GT_UNREPORTED_KINDS]; /* QEMU has reported one; atomic */
};

/* The kind of an instruction of the ELF machine; -1: another one. */
int gt_etrace_unreported_kind(uint32_t e_machine, const uint8_t *bytes, size_t n);

/* At load, with the flags set. */
void gt_etrace_unreported_init(struct gt_etrace *e);
/* The instruction, the last of its block, is not watched: an interrupt of an x86 machine stores,
 * and would find callbacks that the host keeps (kept_callbacks.h). */
bool gt_etrace_is_unwatched(const struct gt_etrace *e, const struct gt_insn_ref *last);
/* Counts those of a block that is being translated. */
void gt_etrace_unreported_count(struct gt_etrace *e, struct gt_block *block, size_t insns);
/* At the end: an event of each kind, and a line. */
void gt_etrace_unreported_put(struct gt_etrace *e);

#endif
