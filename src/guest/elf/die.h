/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attributes of DWARF entries, and of those that they refer to as their origin or specification;
 * and whether their strings end. */
#ifndef GT_GUEST_ELF_DIE_H
#define GT_GUEST_ELF_DIE_H

#include "base/error.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

bool gt_elf_die_flag(Dwarf_Die *die, unsigned name);
/* NULL: there is no such string, or one without an end. */
const char *gt_elf_die_string(Dwarf_Die *die, unsigned name);
/* False: there is no such number. */
bool gt_elf_die_number(Dwarf_Die *die, unsigned name, uint64_t *out);

/* Checks that the sections of strings of an open DWARF file end with a NUL, also in the file that
 * it shares strings with: libdw does not look for the end of what it returns. To be called before
 * anything but units is read. `path` is for the message. GT_E_FORMAT */
int gt_elf_die_check_strings(Dwarf *dwarf, const char *path, struct gt_error *err);

/* Split units, .dwo files. With -fdebug-types-section GCC writes a section for each unit to a .dwo
 * file, all of one name; libdw reads the first. This lets it read all. To be called after
 * dwarf_begin_elf, before libdw is asked for a split unit; path is that of the file that was
 * opened. A .dwo file that is missing or damaged is passed over. */
void gt_elf_split_units_find(Dwarf *dwarf, const char *path);

#endif
