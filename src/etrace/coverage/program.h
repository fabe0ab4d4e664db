/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program whose coverage is computed: its code, its functions, its lines, and where it ran. */
#ifndef GT_ETRACE_COVERAGE_PROGRAM_H
#define GT_ETRACE_COVERAGE_PROGRAM_H

#include "etrace/coverage/count.h"
#include "guest/arch/arch.h"
#include "guest/elf/file.h"
#include "guest/elf/lines.h"
#include "guest/elf/symbols.h"

struct gt_coverage_code {
    uint64_t lo, size; /* run-time address and size */
    const uint8_t *bytes;
};

struct gt_coverage_program {
    char *path;
    struct gt_elf elf;
    struct gt_elf_symbols *symbols;
    struct gt_elf_lines *lines; /* NULL: the file has no line table */
    const struct gt_arch *arch; /* NULL: its architecture is unknown */
    uint64_t base;              /* run-time address of the symbols' address 0 */
    struct gt_coverage_code *code;
    size_t n;
};

/* Opens a program that ran `offset` above its link addresses, and adds the regions of its code to
 * c, with p->path as their name. Call gt_coverage_program_close in any case. Errors of
 * gt_elf_symbols_load; GT_E_FORMAT: no code; GT_E_RANGE: the code does not fit at the offset. */
int gt_coverage_program_open(const char *path, uint64_t offset, struct gt_coverage_program *p,
                             struct gt_coverage *c, struct gt_error *err);
/* Checks that the file is an ELF file; the error message says which file to give instead. */
int gt_coverage_program_check(const char *path, struct gt_error *err);
void gt_coverage_program_close(struct gt_coverage_program *p);

/* Returns the code at the run-time address and sets *left to the bytes up to its end; NULL: there
 * is no code. */
const uint8_t *gt_coverage_program_bytes(const struct gt_coverage_program *p, uint64_t addr,
                                         size_t *left);

#endif
