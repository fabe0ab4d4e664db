/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Split units (.dwo files) that libdw does not read by itself. */
#ifndef GT_GUEST_ELF_SPLIT_UNITS_H
#define GT_GUEST_ELF_SPLIT_UNITS_H

#include <elfutils/libdw.h>

/* With -fdebug-types-section GCC writes a section for each unit to a .dwo file, all of one name;
 * libdw reads the first. This lets it read all. To be called after dwarf_begin_elf, before libdw is
 * asked for a split unit; path is that of the file that was opened. A .dwo file that is missing or
 * damaged is passed over. */
void gt_elf_split_units_find(Dwarf *dwarf, const char *path);

#endif
