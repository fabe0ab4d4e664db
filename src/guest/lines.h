/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source lines of one ELF file, from its DWARF line table or that of its separate debug file, read
 * by libdw. Addresses are relative to the load base, as in guest/symbols.h.
 *
 * Opening reads next to nothing; the first lookup indexes the compilation units' address ranges,
 * and a unit's line table is read with the first address in it. Not for a hot path; one thread at a
 * time.
 *
 * libdw reads beyond its buffers for some damaged line tables (0.188 at least), which we cannot
 * check beforehand: use it where a crash costs a command, not inside the emulator.
 */
#ifndef GT_GUEST_LINES_H
#define GT_GUEST_LINES_H

#include "base/error.h"

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

/* NULL is fine. */
void gt_lines_close(struct gt_lines *l);

#endif
