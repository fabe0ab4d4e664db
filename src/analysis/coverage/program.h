/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program whose coverage is asked for: its code, its functions, its lines, and where it ran. */
#ifndef GT_ANALYSIS_COVERAGE_PROGRAM_H
#define GT_ANALYSIS_COVERAGE_PROGRAM_H

#include "analysis/coverage/count.h"
#include "guest/arch/arch.h"
#include "guest/elf/file.h"
#include "guest/elf/lines.h"
#include "guest/elf/symbols.h"

struct gt_coverage_code {
    uint64_t lo, size; /* run-time address */
    const uint8_t *bytes;
};

struct gt_coverage_program {
    char *path;
    struct gt_elf elf;
    struct gt_symbols *symbols;
    struct gt_lines *lines;     /* NULL: the file has none */
    const struct gt_arch *arch; /* NULL: we know nothing of its instructions */
    uint64_t base;              /* run-time address of what the symbols count from */
    struct gt_coverage_code *code;
    size_t n;
};

/* `offset` is added to the addresses that the file is linked for. Its
 * code's regions are added to c; they name p->path. *p needs gt_coverage_program_close in any case.
 * Errors of gt_symbols_load; GT_E_FORMAT: no code; GT_E_RANGE: it does not fit at OFFSET. */
int gt_coverage_program_open(const char *path, uint64_t offset, struct gt_coverage_program *p,
                             struct gt_coverage *c, struct gt_error *err);
/* It is an ELF file; else the error says what to give in place of it. */
int gt_coverage_program_check(const char *path, struct gt_error *err);
void gt_coverage_program_close(struct gt_coverage_program *p);

/* The code at the run-time address, *left bytes of it up to its end; NULL: the file has none. */
const uint8_t *gt_coverage_program_bytes(const struct gt_coverage_program *p, uint64_t addr,
                                         size_t *left);

#endif
