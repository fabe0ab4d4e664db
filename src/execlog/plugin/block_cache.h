/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The block cache: one description for each different block of guest code, however often QEMU
 * translates it. Blocks of the same content are one. The cache owns them until QEMU throws all
 * translated code away.
 *
 * A program that writes its own code has it translated again and again, each time as another block.
 * Where it has only one thread, the memory of the stale block is used for a later one with as many
 * lines: QEMU has dropped that translation when the code was written. It is never freed for
 * anything else, so that a translation which exists against all rules would have lines of another
 * block, and no more. With threads, one may still execute such a block; in a machine, another
 * address space may have code at that address: there blocks stay.
 */
#ifndef GT_EXECLOG_PLUGIN_BLOCK_CACHE_H
#define GT_EXECLOG_PLUGIN_BLOCK_CACHE_H

#include "base/error.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Which instructions are logged: decided for a whole block when it is translated.
 *
 * Without filters all are; with them those that one of the prefixes or addresses matches; of these
 * those in one of the ranges or functions (where.h), if there are any. With rdisas=on an
 * instruction whose operands name a watched register is logged, too, and registers are checked only
 * where the next instruction begins, and where a block does: what the last instruction of a block
 * did is seen there. Operands are what follows the first blank; a name counts wherever its letters
 * occur in them.
 */

struct gt_exlog;

/* What happens where an instruction begins. */
enum gt_exlog_step {
    GT_EXLOG_SKIP,      /* nothing */
    GT_EXLOG_LOG,       /* its line begins */
    GT_EXLOG_CHECK,     /* registers are checked; the newest line is complete */
    GT_EXLOG_CHECK_LOG, /* both: registers are checked, its line begins */
};

/* One instruction under translation. */
struct gt_exlog_insn {
    uint64_t pc;
    uint32_t opcode;
    uint32_t code;           /* a hash of its bytes */
    const char *disassembly; /* never NULL */
    enum gt_exlog_step step;
};

struct gt_exlog_filter {
    GPtrArray *prefixes; /* const char *, QEMU's arguments; NULL: none */
    GArray *addresses;   /* uint64_t; NULL: none */
};

/* Arguments ifilter= and afilter=; `self` is the recorder, the value lives as long as it.
 * GT_E_USAGE.
 */
int gt_exlog_add_prefix(void *self, const char *value, struct gt_error *err);
int gt_exlog_add_address(void *self, const char *value, struct gt_error *err);
/* Decides `step` of each instruction, in the order of the block. With the lock. */
void gt_exlog_decide_steps(struct gt_exlog *e, struct gt_exlog_insn *insns, size_t n);
void gt_exlog_filter_fini(struct gt_exlog *e);

/* The instruction has a line. */
static inline bool gt_exlog_is_logged(const struct gt_exlog_insn *insn)
{
    return insn->step == GT_EXLOG_LOG || insn->step == GT_EXLOG_CHECK_LOG;
}

struct gt_exlog;
struct gt_exlog_block;

enum { GT_EXLOG_REUSED = 64 /* the memory of blocks of fewer lines is used again */ };

/* An instruction of a block that is logged. */
struct gt_exlog_line {
    const struct gt_exlog_block *block;
    const char *disassembly; /* QEMU's; "" where it has none */
    uint64_t pc;
    uint32_t opcode; /* the first four bytes, in the host's order, missing ones 0 */
    uint32_t number; /* in the block: block->lines + number */
};

struct gt_exlog_block {
    size_t n;       /* lines, at least one */
    uint64_t begun; /* lines that begin with the block: 1, if its first instruction has one, or 0 */
    void *described;   /* the sink's */
    char *image;       /* what makes it equal to another */
    size_t image_size; /* bytes */
    guint hash;
    bool needed;                 /* a sink needs it; only while unneeded blocks are collected */
    struct gt_exlog_block *next; /* of cache.reusable */
    struct gt_exlog_line lines[];
};

struct gt_exlog_block_cache {
    GHashTable *blocks; /* set of struct gt_exlog_block */
    GHashTable *newest; /* first line's address -> its newest block; of a program's one thread */
    GPtrArray *stale;   /* struct gt_exlog_block of code that was written over; not in `blocks` */
    guint max_stale;    /* stale blocks until their memory is reclaimed; 0: not computed yet */
    struct gt_exlog_block *reusable[GT_EXLOG_REUSED]; /* stale ones, by their lines; still whole */
};

/* Prepares an empty cache, and frees it with its blocks. */
void gt_exlog_cache_init(struct gt_exlog *e);
void gt_exlog_cache_fini(struct gt_exlog *e);
/* The cached block that has the lines, `lines` of n instructions; where there is none it is added.
 * NULL: no memory. With the lock. */
struct gt_exlog_block *gt_exlog_cache_block(struct gt_exlog *e, const struct gt_exlog_insn *insns,
                                            size_t n, size_t lines);
/* Where many blocks are stale their memory is reclaimed. Without the lock, on a vCPU's thread. */
void gt_exlog_cache_reclaim(struct gt_exlog *e);
/* Callback of the host; `self` is the recorder. No translated code refers to a block any more. */
void gt_exlog_on_flush(void *self);
/* A hash of n bytes. */
guint gt_exlog_hash(const uint8_t *bytes, size_t n);

#endif
