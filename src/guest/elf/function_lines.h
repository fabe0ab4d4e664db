/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The source file and the lines of each function of an ELF file, from .debug_line of it or of its
 * separate debug file (symbols.h says where that is found).
 *
 * A function's file and first line are from the row at its entry. Its other lines are its code's
 * lines from the same file, inlined functions included; lines between two of them are its own as
 * well, unless another function begins there.
 *
 * Everything in the file is checked, and memory is bounded by the functions, the largest unit and
 * compressed sections: this may be used inside the emulator, on a thread with descriptors of its
 * own.
 */
#ifndef GT_GUEST_ELF_FUNCTION_LINES_H
#define GT_GUEST_ELF_FUNCTION_LINES_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GT_LINE_RANGES_MAX = 32 }; /* of one function; more are joined */

/* A function whose lines are wanted: link addresses. */
struct gt_elf_code_span {
    uint64_t lo, hi;
    bool part; /* NAME.cold: no function begins there */
};

struct gt_elf_function_line {
    const char *file; /* NULL: not known */
    uint32_t line;    /* of the entry */
    const char *all;  /* "10-20,30": its lines, ascending */
};

struct gt_elf_function_lines {
    struct gt_elf_function_line *of; /* of each function, in the order given */
    size_t n;
    struct gt_elf_function_texts *texts; /* private */
};

/* The n functions are sorted by address and do not overlap. debug_roots as in
 * gt_elf_symbols_load_with; NULL: the defaults. The caller frees *out with
 * gt_elf_function_lines_free. GT_E_NOT_FOUND: there is no such file, it has no lines and no debug
 * file that has; GT_E_UNSUPPORTED: it is not linked, or big-endian; GT_E_IO, GT_E_FORMAT,
 * GT_E_NOMEM. */
int gt_elf_function_lines_load(const char *path, const char *const *debug_roots,
                               const struct gt_elf_code_span *function, size_t n,
                               struct gt_elf_function_lines **out, struct gt_error *err);
void gt_elf_function_lines_free(struct gt_elf_function_lines *l); /* NULL is fine */

#endif
