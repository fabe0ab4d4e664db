/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The task of a Linux kernel that runs: the records of its events have its numbers. The code map
 * says where the kernel keeps them. */
#include "events/plugin/recorder.h"
#include "qemu/support/code_modules.h"

#include <string.h>

void gt_points_task_init(struct gt_points *p)
{
    const struct gt_code_linux *found =
        p->modules.code ? gt_code_modules_linux(p->modules.code) : NULL;
    if (found && found->current != GT_CODE_NO_LINUX && p->options.tasks &&
        gt_host_can(GT_HOST_MEMORY))
        p->task.layout = found;
}

/* The address of the current struct task_struct. */
static bool read_current(struct gt_points *p, uint64_t *addr)
{
    const struct gt_code_linux *l = p->task.layout;
    static const char *const names[] = {
        [GT_CODE_SP_EL0] = "sp_el0", [GT_CODE_TP] = "tp", [GT_CODE_GS] = "gs_base"};
    if (!gt_register_read(&p->task.current, names[l->current], addr))
        return false;
    return l->current != GT_CODE_GS || gt_memory_number(*addr + l->gs_offset, 8, addr);
}

bool gt_points_task_read(struct gt_points *p, struct gt_dynamic_source *out)
{
    const struct gt_code_linux *l = p->task.layout;
    uint64_t task, both, tgid;
    if (!read_current(p, &task) || !(task >> 63))
        return false;
    if (l->tgid == l->pid + 4) { /* as in all kernels so far: one read */
        if (!gt_memory_number(task + l->pid, 8, &both))
            return false;
        tgid = both >> 32;
    } else if (!gt_memory_number(task + l->pid, 4, &both) ||
               !gt_memory_number(task + l->tgid, 4, &tgid)) {
        return false;
    }
    out->has_task = true;
    out->tid = (uint32_t)both;
    out->pid = (uint32_t)tgid;
    return true;
}
