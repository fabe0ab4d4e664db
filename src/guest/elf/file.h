/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens untrusted ELF files, and finds the separate debug file of one.
 *
 * Files are read with pread(), not mapped: a file that shrinks while we read it is an error, not a
 * SIGBUS in the emulator.
 */
#ifndef GT_GUEST_ELF_FILE_H
#define GT_GUEST_ELF_FILE_H

#include "base/error.h"

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_elf {
    int fd; /* -1: not open */
    Elf *elf;
};

/* Opens the file; the caller closes *out with gt_elf_close. Never blocks on a FIFO or device.
 * GT_E_NOT_FOUND, GT_E_IO, GT_E_FORMAT: not a regular file or not an ELF file. On failure *out is
 * closed. */
int gt_elf_open(const char *path, struct gt_elf *out, struct gt_error *err);
void gt_elf_close(struct gt_elf *e);

/* Returns the first 20 bytes of the build-id in hex; "": the file has none. */
void gt_elf_build_id(Elf *elf, char hex[41]);

/* Finds a section that has bytes in the file; NULL: there is none. */
Elf_Scn *gt_elf_find_section(Elf *elf, const char *name, GElf_Shdr *header);

/* Returns the load base: the 4 KiB page of the lowest PT_LOAD. False: there is no PT_LOAD. */
bool gt_elf_load_base(Elf *elf, uint64_t *base);

/* Opens the separate debug file of the file at path, verified by build-id or CRC. Returns 1 and
 * sets *out and *debug_path (malloc); 0: none is installed, or there are no roots; GT_E_NOMEM. */
int gt_elf_open_debug(const char *path, Elf *elf, const char *const *roots, struct gt_elf *out,
                      char **debug_path);

#endif
