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
bool gt_etrace_may_watch_single(const struct gt_etrace *e, struct gt_block *block,
                                const struct gt_etrace_block *b);
/* Watches the translation `block` of b, which is one instruction. Returns the translation's
 * counter.
 */
uint32_t gt_etrace_early_exit_watch(struct gt_etrace *e, struct gt_block *block,
                                    struct gt_etrace_block *b);
/* All translations are gone: their counts go to their blocks. */
void gt_etrace_early_exit_flush(struct gt_etrace *e);
/* Frees what the page has of it. */
void gt_etrace_early_exit_free(struct gt_etrace_page *page);

#endif
