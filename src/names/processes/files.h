/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The programs and libraries in a folder and its subfolders: ELF files that can run in a process.
 *
 * Symbolic links are not followed: targets inside the folder are found by their own path, and
 * targets outside are not used. Devices, FIFOs and sockets are never opened. An unreadable or
 * damaged file is skipped; so is the second name of a file (hard link).
 */
#ifndef GT_NAMES_PROCESSES_FILES_H
#define GT_NAMES_PROCESSES_FILES_H

#include "names/image/symbol_source.h"

#include <glib.h>

/* Limits: entries of folders, ELF files, bytes of one file, functions of all files. Everything
 * beyond is left out. */
#define GT_SYSROOT_ENTRIES_MAX   1000000
#define GT_SYSROOT_FILES_MAX     4096
#define GT_SYSROOT_SIZE_MAX      (INT64_C(1) << 30)
#define GT_SYSROOT_FUNCTIONS_MAX ((size_t)16 << 20)

struct gt_sysroot_files {
    struct gt_symbol_source *source; /* sources of kind ELF with one part; sorted by path */
    size_t n;
    bool cut; /* the limits were reached */
};

/* Reads the folder; the caller frees *out with gt_sysroot_files_clear. GT_E_NOT_FOUND, GT_E_IO: the
 * folder cannot be read, or is not a folder. */
int gt_sysroot_files_load(const char *folder, struct gt_sysroot_files *out, struct gt_error *err);
void gt_sysroot_files_clear(struct gt_sysroot_files *f);

#endif
