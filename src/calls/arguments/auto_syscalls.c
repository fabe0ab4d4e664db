/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of system calls: see auto.h. */
#include "calls/arguments/auto_private.h"
#include "calls/arguments/syscalls.h"
#include "guest/abi/syscall_names.h"
#include "guest/types/syscalls.h"

int gt_auto_arguments_add_syscalls(struct gt_auto_arguments *a, const char *target,
                                   struct gt_error *err)
{
    const struct gt_abi *abi = gt_abi_by_name(target);
    struct gt_auto_module m = {GT_SYSCALLS_MODULE, "", a->functions->len, 0};
    struct gt_prototypes *types;
    int status = gt_syscall_prototypes(target, &types, err);
    if (status < 0 || !abi)
        return status == GT_E_UNSUPPORTED ? 0 : status;
    g_ptr_array_add(a->prototypes, types);
    for (unsigned i = 0; i < GT_SYSCALLS_NUMBER; i++) {
        const char *name = gt_syscall_name(target, i);
        const struct gt_prototype *p = name ? gt_prototypes_named(types, name) : NULL;
        struct gt_value_function to = {.addr = i * (uint64_t)GT_SYSCALLS_STEP, .name = name};
        if (!p)
            continue;
        gt_arguments_by_syscall(a->specs, abi, &gt_syscall_reported, types, p, &to.spec);
        gt_arguments_keep(a->specs, &to.spec);
        g_array_append_val(a->functions, to);
    }
    m.n = a->functions->len - m.first;
    g_array_append_val(a->modules, m);
    return 0;
}
