/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attributes of DWARF entries, and of those that they refer to as their origin or specification. */
#ifndef GT_GUEST_ELF_DIE_H
#define GT_GUEST_ELF_DIE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

bool gt_die_flag(Dwarf_Die *die, unsigned name);
/* NULL: there is no such string, or one without an end. */
const char *gt_die_string(Dwarf_Die *die, unsigned name);
/* False: there is no such number. */
bool gt_die_number(Dwarf_Die *die, unsigned name, uint64_t *out);

#endif
