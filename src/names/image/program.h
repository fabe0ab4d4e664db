/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs on this machine: their paths, types and libraries. */
#ifndef GT_NAMES_IMAGE_PROGRAM_H
#define GT_NAMES_IMAGE_PROGRAM_H

#include "base/error.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct gt_image_program {
    bool is_elf;
    char *shebang; /* "#!" scripts: the rest of that line; else NULL */
    uint16_t e_machine, e_type;
    bool has_entry;       /* where it begins to run; most libraries have none */
    uint8_t bits, data;   /* 32 or 64; ELFDATA2LSB or ELFDATA2MSB */
    char *interpreter;    /* PT_INTERP; NULL: none (static) */
    bool exports_plugins; /* it defines QEMU's plugin functions: a QEMU that can load plugins */
};

/* Finds `name` as a shell does: a name with a slash is a path, other names are searched in the
 * directories of PATH (executable regular files only). Returns all matches, best first, if `all` is
 * set, else at most one. Free the array with g_ptr_array_unref; it owns its strings. */
GPtrArray *gt_image_program_search(const char *name, bool all);

/* Inspects the file. A file that is neither ELF nor a script is a success with is_elf and shebang
 * unset. GT_E_NOT_FOUND, GT_E_IO: cannot be read; GT_E_USAGE: a directory; GT_E_FORMAT: a truncated
 * ELF file, or invalid headers. *out needs gt_image_program_clear only after success. */
int gt_image_program_inspect(const char *path, struct gt_image_program *out, struct gt_error *err);
void gt_image_program_clear(struct gt_image_program *p);

/* The files that a program is loaded with: its dynamic linker and the libraries that it needs. */

/*
 * Where the dynamic linker looks, as far as files say so: DT_RPATH and DT_RUNPATH with $ORIGIN,
 * LD_LIBRARY_PATH, the usual folders, and the folders of `triples` (NULL-terminated, as
 * "aarch64-linux-gnu"). Each absolute path is looked up below `root` (NULL: none) first, as QEMU's
 * -L does. A file of another architecture is passed over.
 *
 * Returns absolute paths, without the program's, each once; missing ones are left out. Free
 * with g_ptr_array_unref.
 */
GPtrArray *gt_image_libraries_of(const char *program, const char *root, const char *const *triples);

#endif
