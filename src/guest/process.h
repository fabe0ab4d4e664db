/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ELF files that a user-mode guest has mapped, found in /proc/self/maps of the QEMU that runs it.
 *
 * QEMU maps guest memory at guest address + guest_base, so a file mapping of the guest is one whose
 * host range lies inside what guest_base reaches; QEMU's own mappings (its text, libraries, our
 * plugin) are told apart by the caller's test: only modules in which a guest instruction was
 * translated are asked for.
 */
#ifndef GT_GUEST_PROCESS_H
#define GT_GUEST_PROCESS_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct gt_mapping {
    uint64_t start, end; /* host addresses of all mappings of this file instance, lowest to highest */
    uint64_t base;       /* host address of file offset 0 (load base) */
    char path[4096];     /* as the kernel prints it; " (deleted)" cut off; "" anonymous */
    uint64_t inode;
    uint32_t dev_major, dev_minor;
};

/* The file mapping around the host address: neighbouring mappings of the same inode are taken
 * together (an ELF file's segments; an anonymous .bss tail is not part of it). 1 found, 0 the address
 * is mapped but not from a file, GT_E_NOT_FOUND not mapped, GT_E_IO. Reads /proc/self/maps once, with
 * a buffer of its own: no allocation, so it can be called from a translation callback. */
int gt_process_mapping_at(uint64_t host_addr, struct gt_mapping *out);

/* The same over a given text (a maps file's content), for tests. */
int gt_process_mapping_in(const char *maps, size_t size, uint64_t host_addr, struct gt_mapping *out);

#endif
