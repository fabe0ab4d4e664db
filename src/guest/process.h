/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ELF files that a user-mode guest has mapped, found in /proc/self/maps of the QEMU that runs
 * it.
 *
 * QEMU maps guest memory at guest address + guest_base, so a file mapping of the guest has its host
 * range within the range that guest_base maps. The caller excludes QEMU's own mappings (its text,
 * libraries, our plugin): it looks up only addresses at which a guest instruction was translated.
 *
 * One file may be mapped more than once: by two link-map namespaces, or by the guest and by QEMU
 * itself. An instance is a run of the file's mappings at ascending addresses, without mappings of
 * other files in between (anonymous ones are allowed: guards, .bss) and without descending file
 * offsets. Its base is its lowest mapping of offset 0: not every mapping of offset 0 begins an
 * instance, since the segments of a small file share its first page. QEMU maps guest code without
 * PROT_EXEC, so the protection helps little: only writable data never precedes code of the same
 * page.
 */
#ifndef GT_GUEST_PROCESS_H
#define GT_GUEST_PROCESS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_process_mapping {
    uint64_t start, end; /* lowest and highest host address of the mappings of this instance */
    uint64_t base;   /* host address of file offset 0 (load base); if offset 0 is not mapped, its
                        address relative to the mapping that was looked up */
    char path[4096]; /* the path, with "\n" for the kernel's \012 and without " (deleted)"; "":
                        anonymous, or too long */
    bool deleted;    /* the file was removed: another one may be at path */
    uint64_t inode;
    uint32_t dev_major, dev_minor;
};

/* Finds the file mapping that contains the host address. Returns 1, or 0 if the address is mapped
 * but not from a file: then only start and end of *out are set. GT_E_NOT_FOUND: not mapped;
 * GT_E_IO; on errors *out is all 0. Reads /proc/self/maps twice (for the mapping, then for its
 * instance) with a buffer on the stack: it does not allocate, so a translation callback may call
 * it. A file descriptor is open while it reads. */
int gt_process_mapping_at(uint64_t host_addr, struct gt_process_mapping *out);

/* The same with the content of a maps file, for tests. Invalid lines are skipped. */
int gt_process_mapping_in(const char *maps, size_t size, uint64_t host_addr,
                          struct gt_process_mapping *out);

/* A path at which the mapped file can be opened: its own, or where that is gone `program`, by which
 * a program without a name was executed (/proc/self/fd/N; may be NULL). NULL: there is none. */
const char *gt_process_readable_path(const struct gt_process_mapping *map, const char *program);

#endif
