/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of a kernel module's file. */
#include "guest/kernel_private.h"

int gt_kernel_module_load(const char *path, struct gt_kernel_ko **out, struct gt_error *err)
{
    *out = NULL;
    return gt_error_set(err, GT_E_UNSUPPORTED, "%s: modules cannot be read yet", path);
}

void gt_kernel_module_free(struct gt_kernel_ko *m)
{
    (void)m;
}
