/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs on this machine: where one is, and what kind of file it is. */
#ifndef GT_ANALYSIS_IMAGE_PROGRAM_H
#define GT_ANALYSIS_IMAGE_PROGRAM_H

#include "base/error.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct gt_program {
    bool is_elf;
    char *shebang; /* "#!" scripts: what follows it on the line; else NULL */
    uint16_t e_machine, e_type;
    uint8_t bits, data;   /* 32 or 64; ELFDATA2LSB or ELFDATA2MSB */
    char *interpreter;    /* PT_INTERP; NULL: none (static) */
    bool exports_plugins; /* defines QEMU's plugin functions: a QEMU that can load plugins */
};

/* Where a shell would find `name`: a name with a slash as it is, another in the directories of PATH
 * (executable regular files only). All of them, best first, when `all`, else at most one. Free the
 * array with g_ptr_array_unref; it owns its strings. */
GPtrArray *gt_program_search(const char *name, bool all);

/* Looks into the file. What is neither ELF nor a script is a success with both unset.
 * GT_E_NOT_FOUND, GT_E_IO: cannot be read; GT_E_USAGE: a directory; GT_E_FORMAT: an ELF file that
 * is cut short or whose headers lie. *out needs gt_program_clear only after success. */
int gt_program_inspect(const char *path, struct gt_program *out, struct gt_error *err);
void gt_program_clear(struct gt_program *p);

#endif
