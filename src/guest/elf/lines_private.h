/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations shared by the files that implement guest/elf/lines.h. */
#ifndef GT_GUEST_ELF_LINES_PRIVATE_H
#define GT_GUEST_ELF_LINES_PRIVATE_H

#include "guest/elf/file.h"
#include "guest/elf/lines.h"

#include <elfutils/libdw.h>

struct range {
    uint64_t lo, hi;
    Dwarf_Off unit; /* offset of the unit's DIE */
};

struct gt_elf_lines {
    struct gt_elf file, debug;
    Dwarf *dwarf;
    char *path, *debug_path;
    uint64_t load_base;
    struct range *ranges; /* sorted by lo */
    size_t n, cap;
    bool indexed;
};

#endif
