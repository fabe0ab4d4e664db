/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call stacks of a stream's units, reconstructed from the order in which code ran.
 *
 * A call pushes the function that follows, with the call's return address. A return pops all frames
 * up to the one with that return address; if there is none, up to a function of that name; else the
 * code counts as an interrupt handler. A jump into another function replaces the function that
 * jumped, unless the target is on the stack: then frames are popped up to it (longjmp). Code that
 * the previous instruction does not lead to is a handler, on top of the function that it
 * interrupts; an exception return pops back to that function.
 *
 * The recorder's tracker (src/track) is not fed with this: it knows a frame by the stack pointer,
 * which a stream does not have, and these rules go by names and addresses of returns alone.
 */
#ifndef GT_ETRACE_DUMP_EXEC_STACK_H
#define GT_ETRACE_DUMP_EXEC_STACK_H

#include "base/error.h"
#include "etrace/format/etrace.h"
#include "guest/arch/arch.h"

/* A range of code that ran: its function and its last instruction. */

struct gt_etrace_exec_code {
    uint64_t start, end;
    const char *name; /* name of the function; the same pointer for the same function */
    bool at_entry;    /* the function begins at start */
    bool known;       /* `last` is the classification of its last instruction */
    struct gt_arch_insn last;
};

struct gt_etrace_exec_codes;

struct gt_etrace_names;

/* The instructions are read from the files of `names`, which must be located and outlive the
 * result. Without files code is named by its address. Errors of gt_coverage_program_open. */
int gt_etrace_exec_codes_create(struct gt_etrace_names *names, struct gt_etrace_exec_codes **out,
                                struct gt_error *err);
void gt_etrace_exec_codes_destroy(struct gt_etrace_exec_codes *c); /* NULL is fine */
/* True if there are files, so that functions have names. */
bool gt_etrace_exec_codes_named(const struct gt_etrace_exec_codes *c);
/* Returns the function of an address; "[unknown]": no file has it. */
const char *gt_etrace_exec_codes_name(const struct gt_etrace_exec_codes *c, uint64_t addr);
/* Returns the code [start, end); valid until the next call. */
const struct gt_etrace_exec_code *gt_etrace_exec_codes_at(struct gt_etrace_exec_codes *c,
                                                          uint64_t start, uint64_t end);

enum { GT_EXEC_STACK_DEPTH = 1024 }; /* a deeper stack is cleared and begins again */

struct gt_etrace_exec_sink {
    void *self;
    /* Names live as long as the codes. Calls of enter and leave are balanced for each unit. */
    void (*enter)(void *self, uint16_t unit, const char *name, uint64_t time);
    void (*leave)(void *self, uint16_t unit, const char *name, uint64_t time);
    /* Takes time that the innermost function spent itself; may be NULL. */
    void (*spend)(void *self, uint16_t unit, uint64_t duration);
};

struct gt_etrace_exec_stacks;

/* The caller owns the codes, which must outlive the result. */
struct gt_etrace_exec_stacks *gt_etrace_exec_stacks_create(struct gt_etrace_exec_codes *codes,
                                                           const struct gt_etrace_exec_sink *sink);
void gt_etrace_exec_stacks_add(struct gt_etrace_exec_stacks *s, uint16_t unit,
                               const struct gt_etrace_exec *x);
/* Leaves every function and frees. NULL is fine. */
void gt_etrace_exec_stacks_destroy(struct gt_etrace_exec_stacks *s);

#endif
