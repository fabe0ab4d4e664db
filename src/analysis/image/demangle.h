/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names as the source has them: C++ and Rust, by libiberty, which binutils and gdb use as well.
 * Files of symbols keep the names that the linker knows (_ZN3foo3barEv); what shows them to people
 * demangles.
 */
#ifndef GT_ANALYSIS_IMAGE_DEMANGLE_H
#define GT_ANALYSIS_IMAGE_DEMANGLE_H

/* A longer name stays as it is: a few hundred bytes can say gigabytes. */
enum { GT_DEMANGLED_MAX = 4095 };

struct gt_demangler;

struct gt_demangler *gt_demangler_create(void);
/* NULL is fine. Frees the names that it gave, too. */
void gt_demangler_destroy(struct gt_demangler *d);

/* The name as the source has it, the same pointer for the same `name`, which must outlive d; `name`
 * where it is none of a language that is known, and where d is NULL. */
const char *gt_demangle(struct gt_demangler *d, const char *name);

#endif
