/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source lines of one ELF file, from its DWARF line table or that of its separate debug file, read
 * by libdw. Addresses are relative to the load base, as in guest/elf/symbols.h.
 *
 * Opening reads next to nothing; the first lookup indexes the compilation units' address ranges,
 * and a unit's line table is read with the first address in it. Not for a hot path; one thread at a
 * time.
 *
 * libdw reads beyond its buffers for some damaged line tables (0.188 at least), which we cannot
 * check beforehand: use it where a crash costs a command, not inside the emulator.
 */
#ifndef GT_GUEST_ELF_LINES_H
#define GT_GUEST_ELF_LINES_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct gt_lines;

/* *out is the caller's, to be given to gt_lines_close. debug_roots as in gt_symbols_load_with;
 * NULL: the default ones. GT_E_NOT_FOUND: no such file, or it has no line table, nor has a debug
 * file; GT_E_IO, GT_E_FORMAT, GT_E_NOMEM. */
int gt_lines_open(const char *path, const char *const *debug_roots, struct gt_lines **out,
                  struct gt_error *err);

/* The line that the code at the relative address comes from. 1 and *file (as the compiler says it;
 * valid until gt_lines_close) and *line, 0 not known. */
int gt_lines_at(struct gt_lines *l, uint64_t rel, const char **file, unsigned *line);

/* A stretch of code that comes from one line: lo < hi, relative addresses. */
struct gt_line_row {
    uint64_t lo, hi;
    const char *file; /* as gt_lines_at gives it */
    unsigned line;
};

/* A function as the compiler describes it. */
struct gt_line_function {
    uint64_t lo, hi;  /* relative; of the part that holds its entry */
    const char *file; /* where it is declared: NULL where that is not known */
    unsigned line;
    bool plain;      /* made by GCC, without optimisation */
    bool artificial; /* nobody wrote it: a C++ constructor that is made for a class */
    bool returns;    /* a value */
};

struct gt_lines_visitor {
    void *self;
    /* False ends the walk. Either may be NULL. */
    bool (*row)(void *self, const struct gt_line_row *row);
    bool (*function)(void *self, const struct gt_line_function *function);
};

/* All that the file has: unit by unit, a unit's functions in any order, then its rows by address.
 * Lines 0 are left out, and units that cannot be read. GT_E_NOMEM: a visitor returned false. */
int gt_lines_walk(struct gt_lines *l, const struct gt_lines_visitor *visitor);

/* NULL is fine. */
void gt_lines_close(struct gt_lines *l);

#endif
