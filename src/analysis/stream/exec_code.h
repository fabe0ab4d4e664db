/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of a stretch of code that ran: the function it lies in, and how it ends. */
#ifndef GT_ANALYSIS_STREAM_EXEC_CODE_H
#define GT_ANALYSIS_STREAM_EXEC_CODE_H

#include "guest/arch/arch.h"

#include "base/error.h"

struct gt_exec_code {
    uint64_t start, end;
    const char *name; /* of the function; the same pointer for the same function */
    bool at_entry;    /* the function begins there */
    bool known;       /* `last` is its last instruction */
    struct gt_insn last;
};

struct gt_exec_codes;

struct gt_etrace_names;

/* The names' files, which have their places, have the instructions, too; they live as long as this.
 * Without files code is named by its address. Errors of gt_coverage_program_open. */
int gt_exec_codes_create(struct gt_etrace_names *names, struct gt_exec_codes **out,
                         struct gt_error *err);
void gt_exec_codes_destroy(struct gt_exec_codes *c); /* NULL is fine */
/* There are files: functions have names. */
bool gt_exec_codes_named(const struct gt_exec_codes *c);
/* The function of an address; "[unknown]" where no file has it. */
const char *gt_exec_codes_name(const struct gt_exec_codes *c, uint64_t addr);
/* Of [start, end); valid until the next call. */
const struct gt_exec_code *gt_exec_codes_at(struct gt_exec_codes *c, uint64_t start, uint64_t end);

#endif
