/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Matches the files of a folder with the processes of processes.h: which files ran in which
 * process, and where.
 *
 * In each process a file is accepted at an offset at which its functions match the entries
 * (placement/load_offset.h): a file that is linked for an address only there, others at the best
 * offset; the more files and processes there are, the more functions must match. The file that
 * explains most entries takes precedence; of two that explain the same number, the one with the
 * name of the process; otherwise both are left out, unless they give the same names. The range of
 * an accepted file is closed to others. Pages that processes share have the addresses of the
 * process that ran them first, so the remaining entries are compared with the places of all
 * processes, and such a place needs to explain only more than half of the entries in it.
 *
 * The first place of a file in a process covers the whole file, a further one only the code that
 * was entered there.
 */
#ifndef GT_NAMES_PROCESSES_MATCH_H
#define GT_NAMES_PROCESSES_MATCH_H

#include "names/image/symbol_source.h"
#include "names/placement/locate.h"
#include "names/processes/processes.h"

#include <glib.h>

/*
 * The programs and libraries in a folder and its subfolders: ELF files that can run in a process.
 *
 * Symbolic links are not followed: targets inside the folder are found by their own path, and
 * targets outside are not used. Devices, FIFOs and sockets are never opened. An unreadable or
 * damaged file is skipped; so is the second name of a file (hard link).
 */

/* Limits: entries of folders, ELF files, bytes of one file, functions of all files. Everything
 * beyond is left out. */
#define GT_SYSROOT_ENTRIES_MAX   1000000
#define GT_SYSROOT_FILES_MAX     4096
#define GT_SYSROOT_SIZE_MAX      (INT64_C(1) << 30)
#define GT_SYSROOT_FUNCTIONS_MAX ((size_t)16 << 20)

struct gt_sysroot_files {
    struct gt_image_symbol_source *source; /* sources of kind ELF with one part; sorted by path */
    size_t n;
    bool cut; /* the limits were reached */
};

/* Reads the folder; the caller frees *out with gt_sysroot_files_clear. GT_E_NOT_FOUND, GT_E_IO: the
 * folder cannot be read, or is not a folder. */
int gt_sysroot_files_load(const char *folder, struct gt_sysroot_files *out, struct gt_error *err);
void gt_sysroot_files_clear(struct gt_sysroot_files *f);

/* Sets `places`, `vague` and `left` of the processes, an array of struct gt_sysroot_process.
 * Appends a line to `lines` for two files that could not be distinguished. */
void gt_sysroot_match(const struct gt_sysroot_files *files, GArray *processes, GPtrArray *lines);

#endif
