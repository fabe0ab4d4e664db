/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The modules of a recording (programs, libraries, kernels), with their symbols and source lines.
 * Not for several threads at once. */
#ifndef GT_CALLS_READ_MODULES_H
#define GT_CALLS_READ_MODULES_H

#include "base/error.h"
#include "calls/read/texts.h"
#include "recording/directory/uftrace.h"

struct gt_calls_module {
    char *path, *build_id; /* build_id: "" where it is not known */
    uint32_t number;       /* dense, from 0 */
    bool symbols_read, lines_read;
    struct gt_uftrace_symtab symbols;
    struct gt_uftrace_dbginfo lines;
    /* by address: the functions of `lines` that have one */
    struct gt_calls_line *line;
    size_t n_lines;
};

/* Where a function's source is. */
struct gt_calls_line {
    uint64_t address; /* of the function, as in the symbols */
    const char *file;
    uint32_t line;
    const char *lines; /* all of them, as in gt_uftrace_dbg; NULL: not known */
};

struct gt_calls_modules {
    const struct gt_calls_texts *texts;
    struct gt_error_notices notices;
    GPtrArray *list;     /* struct gt_calls_module */
    GHashTable *by_name; /* path and build-id */
};

void gt_calls_modules_init(struct gt_calls_modules *m, const struct gt_calls_texts *texts,
                           const struct gt_error_notices *notices);
void gt_calls_modules_finish(struct gt_calls_modules *m);
/* The module of a path (as in a map; a library's is converted). */
struct gt_calls_module *gt_calls_modules_get(struct gt_calls_modules *m, const char *path,
                                             const char *build_id);
/* The symbol that contains the address; NULL: none. Symbol files that are damaged or missing have
 * none; a notice reports damage. */
const struct gt_uftrace_symbol *
gt_calls_modules_symbol(struct gt_calls_modules *m, struct gt_calls_module *of, uint64_t address);
/* The source of the function that begins at the address; NULL: not known. */
const struct gt_calls_line *gt_calls_modules_line(struct gt_calls_modules *m,
                                                  struct gt_calls_module *of, uint64_t address);

#endif
