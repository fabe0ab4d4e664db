/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Demangles one name of C++ or Rust with libiberty, as binutils and gdb do. */
#ifndef GT_GUEST_ELF_DEMANGLE_NAME_H
#define GT_GUEST_ELF_DEMANGLE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* A name that would be longer is cut, and ends in "~" and a number of its own: a few hundred bytes
 * can expand to gigabytes. */
enum { GT_DEMANGLED_MAX = 4095 };

/* Writes the demangled name; false: it is not a mangled name. Any thread. */
bool gt_elf_demangle_name(const char *name, char out[GT_DEMANGLED_MAX + 1]);

/* The length of a demangled name without its parameters. */
size_t gt_elf_demangled_without_parameters(const char *name);

#endif
