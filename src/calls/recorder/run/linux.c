/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of a Linux guest's threads. The kernel's function that switches threads has the previous
 * and the next task as its arguments, on every architecture: both are read where it loads the stack
 * pointer. The code map has the offsets of comm, pid and tgid in a task.
 *
 * The context that continues gets the name, as soon as the tracker has identified it: at once, or
 * at the first transfer of a thread that begins. When a running thread gets a new name (execve,
 * prctl), it is read at the entry of the kernel's function for that, which has the task and the
 * name as arguments.
 */
#include "calls/recorder/run/linux.h"
#include "calls/recorder/installed.h"
#include "calls/recorder/options.h"
#include "calls/recorder/output/tasks.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/run/vcpu.h"
#include "calls/recorder/task.h"
#include "qemu/support/code_modules.h"

#include <string.h>

void gt_run_linux_init(struct gt_recorder *r)
{
    const struct gt_recording_code_linux *found =
        gt_support_code_modules_linux(r->code.modules.code);
    bool can = gt_host_can(GT_HOST_REGISTERS) && gt_host_can(GT_HOST_MEMORY);
    if (found->current != GT_CODE_NO_LINUX && can && r->guest.arch->first_argument &&
        r->options.tasks == GT_TASKS_STACK && !r->options.privilege_levels)
        r->os.layout = found;
    gt_recorder_guest_tasks_init(&r->guest_tasks);
}

/* ---- tasks --------------------------------------------------------------------------------- */

static uint64_t argument(struct gt_host_register *which, const char *name)
{
    uint64_t value;
    return gt_host_register_read(which, name, &value) ? value : 0;
}

/* Reads an argument of a function that has just begun, or called nothing yet. 0: not known. */
static uint64_t first_argument(struct gt_recorder *r)
{
    return argument(&r->os.first, r->guest.arch->first_argument);
}

static uint64_t second_argument(struct gt_recorder *r)
{
    return argument(&r->os.second, r->guest.arch->second_argument);
}

/* "": it cannot be read. */
static void read_comm(uint64_t addr, char comm[16])
{
    memset(comm, 0, 16);
    if (!gt_host_memory_read(addr, comm, 16)) /* it may end just before what cannot be read */
        for (unsigned i = 0; i < 15 && gt_host_memory_read(addr + i, &comm[i], 1) && comm[i]; i++)
            continue;
    comm[15] = '\0';
    for (char *c = comm; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
}

static bool read_task(struct gt_recorder *r, uint64_t addr, struct gt_recording_guest_task *out)
{
    uint64_t pid, tgid;
    *out = (struct gt_recording_guest_task){0};
    if (!addr || !gt_host_memory_number(addr + r->os.layout->pid, sizeof out->pid, &pid) ||
        !gt_host_memory_number(addr + r->os.layout->tgid, sizeof out->tgid, &tgid))
        return false;
    out->pid = (uint32_t)pid;
    out->tgid = (uint32_t)tgid;
    read_comm(addr + r->os.layout->comm, out->comm);
    return out->comm[0] != '\0';
}

static void name_stack(struct gt_recorder *r, struct gt_stack *s,
                       const struct gt_recording_guest_task *task, uint64_t time)
{
    struct gt_recorder_task *own = gt_recorder_task_of(s);
    bool same = own->named_pid == task->pid && strcmp(own->name, task->comm) == 0;
    if (same || !s->out)
        return;
    own->named_pid = task->pid;
    struct gt_recording_guest_task seen = *task;
    seen.task = own->id;
    gt_recorder_guest_tasks_note(&r->guest_tasks, &seen);
    gt_recorder_output_name_stack(r, s, task->comm, time);
    gt_select_filtered_name(&own->filtered, own->name, r->process.pid);
}

/* ---- callbacks ----------------------------------------------------------------------------- */

void gt_run_on_thread_switch(unsigned vcpu, void *data)
{
    (void)data;
    struct gt_recorder *r = gt_recorder_installed();
    struct gt_vcpu *v = gt_vcpu_enter_begun(r, vcpu);
    struct gt_recording_guest_task left;
    if (!v)
        return;
    if (read_task(r, first_argument(r), &left))
        name_stack(r, v->thread.stack, &left, gt_run_vcpu_time(v, gt_run_vcpu_score(r, v, vcpu)));
    v->left = read_task(r, second_argument(r), &v->next) ? v->thread.stack : NULL;
    gt_vcpu_leave(v);
}

/* If the name is another thread's, that is named when it runs. */
static void name_own(struct gt_vcpu *v, unsigned vcpu)
{
    struct gt_recorder *r = v->rec;
    struct gt_recording_guest_task task;
    if (!read_task(r, first_argument(r), &task) ||
        task.pid != gt_recorder_task_of(v->thread.stack)->named_pid)
        return;
    read_comm(second_argument(r), task.comm);
    if (task.comm[0])
        name_stack(r, v->thread.stack, &task, gt_run_vcpu_time(v, gt_run_vcpu_score(r, v, vcpu)));
}

void gt_run_on_thread_named(unsigned vcpu, void *data)
{
    (void)data;
    struct gt_vcpu *v = gt_vcpu_enter_begun(gt_recorder_installed(), vcpu);
    if (!v)
        return;
    name_own(v, vcpu);
    gt_vcpu_leave(v);
}

void gt_run_linux_transferred(struct gt_vcpu *v, uint64_t time)
{
    struct gt_recorder *r = v->rec;
    if (!v->left || v->left == v->thread.stack)
        return;
    v->left = NULL;
    name_stack(r, v->thread.stack, &v->next, time);
}
