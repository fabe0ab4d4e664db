/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The programs and libraries below a folder: ELF files that can run in a process.
 *
 * Symbolic links are not followed: what they lead to inside the folder is found where it is, and
 * nothing outside of it is looked at. Devices, FIFOs and sockets are never opened. A file that
 * cannot be read, or is damaged, is passed over; so is the second name of a file (hard link).
 */
#ifndef GT_ANALYSIS_PROCESSES_FILES_H
#define GT_ANALYSIS_PROCESSES_FILES_H

#include "analysis/image/symbol_source.h"

#include <glib.h>

/* Of what is looked at: entries of folders, ELF files, bytes of one, functions of all. What is
 * beyond is left out. */
#define GT_SYSROOT_ENTRIES_MAX   1000000
#define GT_SYSROOT_FILES_MAX     4096
#define GT_SYSROOT_SIZE_MAX      (INT64_C(1) << 30)
#define GT_SYSROOT_FUNCTIONS_MAX ((size_t)16 << 20)

struct gt_sysroot_files {
    struct gt_symbol_source *source; /* each of kind ELF with one part; sorted by path */
    size_t n;
    bool cut; /* there are more than the bounds allow */
};

/* *out is the caller's, to be given to gt_sysroot_files_clear. GT_E_NOT_FOUND, GT_E_IO: the folder
 * cannot be read, or is none. */
int gt_sysroot_files_load(const char *folder, struct gt_sysroot_files *out, struct gt_error *err);
void gt_sysroot_files_clear(struct gt_sysroot_files *f);

#endif
