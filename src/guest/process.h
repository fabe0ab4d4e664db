/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ELF files that a user-mode guest has mapped, found in /proc/self/maps of the QEMU that runs
 * it.
 *
 * QEMU maps guest memory at guest address + guest_base, so a file mapping of the guest is one whose
 * host range lies inside what guest_base reaches; QEMU's own mappings (its text, libraries, our
 * plugin) are told apart by the caller's test: only modules in which a guest instruction was
 * translated are asked for.
 *
 * One file may be mapped more than once: by two link-map namespaces, or by the guest and by QEMU
 * itself. An instance is a run of the file's mappings at rising addresses with no mapping of
 * another file in between (anonymous ones may be: guards, .bss) and file offsets that do not fall.
 * Its base is its lowest mapping of offset 0: not each mapping of offset 0 begins an instance,
 * since the segments of a small file share its first page. QEMU maps guest code without PROT_EXEC,
 * so the protection says little: only that data that is writable does not come before code of the
 * same page.
 */
#ifndef GT_GUEST_PROCESS_H
#define GT_GUEST_PROCESS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_mapping {
    uint64_t start,
        end;         /* host addresses of all mappings of this file instance, lowest to highest */
    uint64_t base;   /* host address of file offset 0 (load base); where offset 0 is not mapped,
                      * where it would be in line with the mapping that was asked for */
    char path[4096]; /* "\n", which the kernel prints as \012, put back; " (deleted)" cut off; ""
                      * anonymous, or longer than fits */
    bool deleted;    /* the file has no name any more: another may be at path */
    uint64_t inode;
    uint32_t dev_major, dev_minor;
};

/* The file mapping around the host address. 1 found, 0 the address is mapped but not from a file,
 * GT_E_NOT_FOUND not mapped, GT_E_IO. Reads /proc/self/maps twice in one go (which mapping; its
 * instance), with a buffer on the stack: no allocation, so it can be called from a translation
 * callback. It has a file descriptor open while it reads. *out is all 0 unless 1;
 * with 0 it has start and end of the one mapping. */
int gt_process_mapping_at(uint64_t host_addr, struct gt_mapping *out);

/* The same over a given text (a maps file's content), for tests. Lines that are none are skipped.
 */
int gt_process_mapping_in(const char *maps, size_t size, uint64_t host_addr,
                          struct gt_mapping *out);

#endif
