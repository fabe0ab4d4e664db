/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prototypes from the BTF of a kernel and of its modules.
 *
 * BTF names functions without addresses: all of that name have that prototype. pahole leaves out a
 * function whose parameters are not where the calling convention has them; so prototypes found here
 * are right, and a function that is missing has unknown parameters.
 */
#ifndef GT_GUEST_TYPES_BTF_H
#define GT_GUEST_TYPES_BTF_H

#include "guest/kernel/kernel.h"
#include "guest/types/prototypes.h"

/* The caller frees *out; it does not need the kernel any more. GT_E_NOT_FOUND: the file has no BTF;
 * GT_E_NOMEM, GT_E_RANGE. */
int gt_type_btf_prototypes(const struct gt_kernel *k, struct gt_type_prototypes **out,
                           struct gt_error *err);

/* Types of a module alone; types that the kernel has are the kernel's, which must outlive *out.
 * GT_E_FORMAT: the module is not of that kernel. */
int gt_type_btf_module_prototypes(const struct gt_kernel_ko *m, const struct gt_kernel *k,
                                  const struct gt_type_prototypes *kernel,
                                  struct gt_type_prototypes **out, struct gt_error *err);

#endif
