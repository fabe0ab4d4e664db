/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prototypes of functions of the C library and POSIX, for programs without debug information. */
#ifndef GT_GUEST_TYPES_LIBC_H
#define GT_GUEST_TYPES_LIBC_H

#include "guest/types/prototypes.h"

/* The prototypes for a QEMU target; the caller frees *out. GT_E_UNSUPPORTED: an unknown target;
 * GT_E_NOMEM.
 */
int gt_type_libc_prototypes(const char *target, struct gt_type_prototypes **out,
                            struct gt_error *err);

#endif
