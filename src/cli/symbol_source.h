/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ELF[:OFFSET]: a file whose functions name addresses of a guest, and where it ran.
 *
 * Its code ran at the address it is linked for plus OFFSET (decimal or hex, a sign allowed, modulo
 * 2^64; nothing: 0). A position-independent file that is linked at 0 ran somewhere: it needs one.
 */
#ifndef GT_CLI_SYMBOL_SOURCE_H
#define GT_CLI_SYMBOL_SOURCE_H

#include "base/error.h"
#include "format/uftrace.h"
#include "guest/symbols.h"

struct gt_symbol_source {
    char file[GT_UFTRACE_PATH_MAX]; /* absolute, as a map can hold it */
    uint64_t offset;
    uint64_t start, end; /* guest addresses of its code, 48 bits */
    uint64_t text;       /* start as the file's own symbols count it */
    struct gt_symbols *symbols;
};

/* *out needs gt_symbol_source_clear only after success. Errors of gt_symbols_load; GT_E_USAGE: no
 * OFFSET where one is needed; GT_E_FORMAT: no code in the file, GT_E_RANGE: code that does not fit
 * below 2^48 once there. */
int gt_symbol_source_load(const char *argument, struct gt_symbol_source *out, struct gt_error *err);
void gt_symbol_source_clear(struct gt_symbol_source *s);

/* Splits at the last ':' that has a number behind it. *path is the caller's (g_free). */
void gt_symbol_source_split(const char *argument, char **path, bool *has_offset, uint64_t *offset);

#endif
