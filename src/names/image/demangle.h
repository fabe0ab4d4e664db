/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Demangles names of C++ and Rust with libiberty, as binutils and gdb do. Symbol files keep mangled
 * names (_ZN3foo3barEv); the commands that print them demangle.
 */
#ifndef GT_NAMES_IMAGE_DEMANGLE_H
#define GT_NAMES_IMAGE_DEMANGLE_H

struct gt_image_demangler;

struct gt_image_demangler *gt_image_demangler_create(void);
/* Also frees the names that it returned. NULL is fine. */
void gt_image_demangler_destroy(struct gt_image_demangler *d);

/* Returns the demangled name, the same pointer for the same `name`, which must outlive d. Returns
 * `name` itself if it is not a mangled name, or d is NULL. */
const char *gt_image_demangle(struct gt_image_demangler *d, const char *name);

#endif
