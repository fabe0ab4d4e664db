/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flags=coverage of machines: blocks that an access to a device ends early.
 *
 * At such an access QEMU (8.2 and later; with -icount all) leaves the block, runs the instruction
 * again as a block of its own, of which it reports the access only, and continues after it with
 * another block. The first block was counted whole. So one run is taken from it (early_exits), and
 * one is given to the shorter block that ends with the instruction (extra_runs).
 *
 * QEMU's block of one instruction is recognised by accesses although it was never counted. Accesses
 * are watched only in blocks of one instruction: other code costs nothing.
 * An instruction may have several accesses: they belong to one run where no enclosing block has
 * been counted in between. Which one of several enclosing blocks was left does not matter, as the
 * shorter ones end at one address; the one that begins last is taken first, since those that begin
 * earlier have more instructions where they may be left.
 *
 * What a translation needs is freed with it: code that is written again all the time takes as much
 * memory as QEMU has room for translated code.
 *
 * All functions need the recorder's lock.
 */
#ifndef GT_ETRACE_PLUGIN_EARLY_EXIT_H
#define GT_ETRACE_PLUGIN_EARLY_EXIT_H

#include "etrace/plugin/block_cache.h"
#include "qemu/host.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A translation of a machine's block of one instruction. */
struct gt_etrace_single {
    struct gt_etrace_single *next;
    struct gt_etrace *recorder;
    uint64_t pc;
    uint32_t counter;                   /* runs that QEMU reports */
    struct gt_etrace_exit_point *point; /* early_exit.c; NULL: it has ended no block yet */
};

/* The block has a counter from now on. */
void gt_etrace_early_exit_add(struct gt_etrace *e, struct gt_etrace_block *b);
/* Whether accesses of b, which `block` is a translation of, are watched: it is one instruction of a
 * machine, and the host does not keep its callback, or every instruction has one. */
bool gt_etrace_may_watch_single(const struct gt_etrace *e, struct gt_host_block *block,
                                const struct gt_etrace_block *b);
/* Watches the translation `block` of b, which is one instruction. Returns the translation's
 * counter.
 */
uint32_t gt_etrace_early_exit_watch(struct gt_etrace *e, struct gt_host_block *block,
                                    struct gt_etrace_block *b);
/* All translations are gone: their counts go to their blocks. */
void gt_etrace_early_exit_flush(struct gt_etrace *e);
/* Frees what the page has of it. */
void gt_etrace_early_exit_free(struct gt_etrace_page *page);

/*
 * Instructions whose memory accesses QEMU does not report to plugins, depending on its version: its
 * own functions access memory for them. With flags=mem they are counted by kind, in whole blocks; a
 * kind of which an access was reported is left out. At the end an event of each kind tells how many
 * ran.
 */

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
struct gt_host_block;
struct gt_host_insn;

struct gt_etrace_unreported {
    void *counters;                          /* gt_host_counters_new; NULL: none are counted */
    uint8_t has_access[GT_UNREPORTED_KINDS]; /* QEMU has reported one; atomic */
};

/* The kind of an instruction of the ELF machine; -1: another one. */
int gt_etrace_unreported_kind(uint32_t e_machine, const uint8_t *bytes, size_t n);

/* At load, with the flags set. */
void gt_etrace_unreported_init(struct gt_etrace *e);
/* The instruction, the last of its block, is not watched: an interrupt of an x86 machine stores,
 * and would find callbacks that the host keeps (kept_callbacks.h). */
bool gt_etrace_is_unwatched(const struct gt_etrace *e, const struct gt_host_insn *last);
/* Counts the accesses of a block that is being translated. */
void gt_etrace_unreported_count(struct gt_etrace *e, struct gt_host_block *block, size_t insns);
/* At the end: an event of each kind, and a line. */
void gt_etrace_unreported_put(struct gt_etrace *e);

#endif
