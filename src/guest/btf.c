/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members of structs by the BTF (BPF type format) of a kernel. */
#include "guest/kernel_private.h"

int gt_kernel_member(const struct gt_kernel *k, const char *type, const char *member,
                     uint32_t *byte_offset)
{
    (void)k;
    (void)type;
    (void)member;
    *byte_offset = 0;
    return GT_E_UNSUPPORTED;
}

int gt_kernel_sizeof(const struct gt_kernel *k, const char *type, uint32_t *bytes)
{
    (void)k;
    (void)type;
    *bytes = 0;
    return GT_E_UNSUPPORTED;
}
