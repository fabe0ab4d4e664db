/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes of a debug section of an untrusted ELF file: read in pieces, so that a large one takes no
 * memory, unless it is compressed. */
#ifndef GT_GUEST_ELF_DEBUG_SECTION_H
#define GT_GUEST_ELF_DEBUG_SECTION_H

#include "guest/elf/file.h"

enum { GT_DEBUG_TEXT_MAX = 4096 };

struct gt_elf_debug_section {
    int fd;              /* the file's */
    uint64_t at, size;   /* offset in the file, bytes; size 0: the file has no such section */
    const uint8_t *data; /* it was compressed; libelf owns it; NULL: in the file */
};

/* Finds a section. One of more than 512 MiB uncompressed counts as missing, as does one that libelf
 * cannot uncompress. Lives as long as `e`. */
void gt_elf_debug_section_find(const struct gt_elf *e, const char *name,
                               struct gt_elf_debug_section *out);

/* Copies up to n bytes from the offset on; returns how many there are. */
size_t gt_elf_debug_section_copy(const struct gt_elf_debug_section *s, uint64_t at, void *to,
                                 size_t n);

/* Copies the text at the offset. False: it does not end within the section and `text`. */
bool gt_elf_debug_section_text(const struct gt_elf_debug_section *s, uint64_t at,
                               char text[GT_DEBUG_TEXT_MAX]);

#endif
