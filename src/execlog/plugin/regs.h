/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watched registers. Each vCPU has those whose names a glob matches, in the host's order, and one
 * as often as globs match it. What they hold is compared with the values seen before.
 *
 * Which registers there are is known when the first vCPU begins, not at load.
 */
#ifndef GT_EXECLOG_PLUGIN_REGS_H
#define GT_EXECLOG_PLUGIN_REGS_H

#include "base/error.h"

#include <glib.h>
#include <stdbool.h>

struct gt_exlog;
struct gt_exlog_vcpu;

/* A watched register: one for each name, whichever vCPU has it. */
struct gt_exlog_register {
    const char *name; /* lower case */
    unsigned number;  /* from 0, in the order of their being found */
    bool reported;    /* that it is larger than the log can take */
};

struct gt_exlog_registers {
    GPtrArray *globs; /* lower case; NULL: no registers are watched */
    bool rdisas;      /* they are checked only after instructions that name one */
    GPtrArray *all;   /* struct gt_exlog_register, found so far */
};

/* Argument reg=; `self` is the recorder. GT_E_USAGE, GT_E_UNSUPPORTED. */
int gt_exlog_add_glob(void *self, const char *value, struct gt_error *err);
/* Finds the watched registers of a new vCPU, and what they hold, in a callback of it.
 * GT_E_NOT_FOUND: no register matches a glob. Takes the lock. */
int gt_exlog_find_registers(struct gt_exlog_vcpu *v, struct gt_error *err);
/* Delivers the registers that changed. In a callback of the vCPU that may read registers. */
void gt_exlog_check_registers(struct gt_exlog_vcpu *v);
/* The disassembly's operands have the name of a watched register. With the lock. */
bool gt_exlog_names_register(const struct gt_exlog *e, const char *disassembly);
void gt_exlog_registers_fini(struct gt_exlog *e);

#endif
