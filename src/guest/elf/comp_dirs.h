/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The directories in which units were compiled: DWARF 2 to 4 have them in .debug_info only. Of each
 * unit only the first entry is read. */
#ifndef GT_GUEST_ELF_COMP_DIRS_H
#define GT_GUEST_ELF_COMP_DIRS_H

#include "guest/elf/debug_section.h"

struct gt_elf_comp_dir {
    uint64_t lines; /* offset of its unit in .debug_line */
    char *path;     /* NULL: not known */
};

struct gt_elf_comp_dirs {
    struct gt_elf_comp_dir *dir; /* sorted by `lines` */
    size_t n, room;
};

/* GT_E_NOMEM; what cannot be read is left out. The caller frees *out in any case. */
int gt_elf_comp_dirs_read(const struct gt_elf *e, struct gt_elf_comp_dirs *out);
/* NULL: not known. */
const char *gt_elf_comp_dirs_find(const struct gt_elf_comp_dirs *d, uint64_t lines);
void gt_elf_comp_dirs_free(struct gt_elf_comp_dirs *d);

#endif
