/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that a program is loaded with: its dynamic linker and the libraries that it needs. */
#ifndef GT_NAMES_IMAGE_LIBRARIES_H
#define GT_NAMES_IMAGE_LIBRARIES_H

#include <glib.h>

/*
 * Where the dynamic linker looks, as far as files say so: DT_RPATH and DT_RUNPATH with $ORIGIN,
 * LD_LIBRARY_PATH, the usual folders, and those of `triples` (NULL-terminated, as
 * "aarch64-linux-gnu"). Each absolute path is looked up below `root` (NULL: none) first, as QEMU's
 * -L does. A file of another architecture is passed over.
 *
 * Returns absolute paths, without the program's, each once; missing ones are left out. Free
 * with g_ptr_array_unref.
 */
GPtrArray *gt_libraries_of(const char *program, const char *root, const char *const *triples);

#endif
