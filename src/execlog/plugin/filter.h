/* SPDX-License-Identifier: GPL-2.0-or-later */
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
#ifndef GT_EXECLOG_PLUGIN_FILTER_H
#define GT_EXECLOG_PLUGIN_FILTER_H

#include "base/error.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
