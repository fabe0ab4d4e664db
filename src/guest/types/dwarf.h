/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prototypes from the DWARF (versions 2 to 5) of a program, library or vmlinux, or of its separate
 * debug file. Files that dwz made, units of types and split units (.dwo) are followed.
 *
 * Of a function that the compiler changed (a clone with fewer parameters, a language whose calling
 * convention is its own) only those parameters are placed whose registers the compiler named.
 *
 * Structs are complete where a function has them by value or behind one pointer; behind further
 * pointers only their names are known.
 *
 * libdw (at least 0.188) reads beyond its buffers in some damaged files, which cannot be checked
 * beforehand: use this in commands, where a crash is tolerable, not inside the emulator.
 */
#ifndef GT_GUEST_TYPES_DWARF_H
#define GT_GUEST_TYPES_DWARF_H

#include "guest/types/prototypes.h"

/* Reads the file at path; the caller frees *out. debug_roots as in gt_elf_symbols_load_with; NULL:
 * the defaults. GT_E_NOT_FOUND: no such file, or no DWARF in it and no debug file; GT_E_IO,
 * GT_E_FORMAT, GT_E_NOMEM, GT_E_RANGE. */
int gt_type_dwarf_prototypes(const char *path, const char *const *debug_roots,
                             struct gt_type_prototypes **out, struct gt_error *err);

#endif
