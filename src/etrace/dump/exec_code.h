/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A range of code that ran: its function and its last instruction. */
#ifndef GT_ETRACE_DUMP_EXEC_CODE_H
#define GT_ETRACE_DUMP_EXEC_CODE_H

#include "guest/arch/arch.h"

#include "base/error.h"

struct gt_exec_code {
    uint64_t start, end;
    const char *name; /* name of the function; the same pointer for the same function */
    bool at_entry;    /* the function begins at start */
    bool known;       /* `last` is the classification of its last instruction */
    struct gt_insn last;
};

struct gt_exec_codes;

struct gt_etrace_names;

/* The instructions are read from the files of `names`, which must be located and outlive the
 * result. Without files code is named by its address. Errors of gt_coverage_program_open. */
int gt_exec_codes_create(struct gt_etrace_names *names, struct gt_exec_codes **out,
                         struct gt_error *err);
void gt_exec_codes_destroy(struct gt_exec_codes *c); /* NULL is fine */
/* True if there are files, so that functions have names. */
bool gt_exec_codes_named(const struct gt_exec_codes *c);
/* Returns the function of an address; "[unknown]": no file has it. */
const char *gt_exec_codes_name(const struct gt_exec_codes *c, uint64_t addr);
/* Returns the code [start, end); valid until the next call. */
const struct gt_exec_code *gt_exec_codes_at(struct gt_exec_codes *c, uint64_t start, uint64_t end);

#endif
