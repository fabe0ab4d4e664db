/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tracker does, under filters: see filtered_stacks.h. */
#include "calls/recorder/select/filtered_stacks.h"
#include "calls/recorder/output/live_clock.h"
#include "calls/recorder/output/tasks.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/select/filters.h"
#include "calls/recorder/task.h"
#include "recording/directory/uftrace.h"
#include "track/transfer.h"

bool gt_filtered_transfer(const struct gt_transfer *t)
{
    struct gt_uftrace_recorder *r = t->vcpu->rec;
    struct gt_stack *s = t->vcpu->thread.stack;
    struct gt_call_event found;
    struct gt_filtered *f = &gt_task_of(s)->filtered; /* not begun with privilege_levels */
    if (!f->out ||
        !gt_track_transfer(&t->vcpu->thread, t->code, t->last_exit, r->tracker.max_depth, &found))
        return false;
    gt_live_clock_set(&r->hot.live, t->time);
    if (found.leaves)
        gt_filtered_leave(f, t->time, gt_arguments_returned(t, found.addr));
    else {
        gt_code_enter(t->code);
        gt_filtered_enter_code(f, t->code, s->top, t->time);
    }
    return true;
}

/* ---- stacks -------------------------------------------------------------------------------- */

static void stack_enter(void *self, struct gt_stack *s, uint64_t time, uint32_t depth,
                        uint64_t addr)
{
    (void)self, (void)depth, (void)addr;
    gt_filtered_enter(&gt_task_of(s)->filtered, s->top, time);
}

static void stack_leave(void *self, struct gt_stack *s, uint64_t time, uint32_t depth,
                        uint64_t addr)
{
    (void)self, (void)depth;
    gt_filtered_leave(&gt_task_of(s)->filtered, time, gt_arguments_leaving(s, addr));
}

static void stack_suspended(void *self, struct gt_stack *s, uint64_t time)
{
    if (gt_recorder_tells_switches(self))
        gt_filtered_suspend(&gt_task_of(s)->filtered, time);
}

static void stack_resumed(void *self, struct gt_stack *s, uint64_t time)
{
    (void)self;
    gt_filtered_resume(&gt_task_of(s)->filtered, time);
}

static void stack_ends(void *self, struct gt_stack *s, uint64_t time)
{
    (void)self;
    gt_filtered_ends(&gt_task_of(s)->filtered, time);
}

static bool stack_open(void *self, struct gt_thread *t, struct gt_stack *s, uint64_t time)
{
    struct gt_uftrace_recorder *r = self;
    struct gt_task *task = gt_task_of(s);
    if (!gt_output_open_stack(self, t, s, time))
        return false;
    if (task->filtered.out && gt_recorder_has_vcpu_tasks(r)) {
        /* it runs again, on this vCPU or another one: with its filters as they were */
        task->filtered.out = s->out;
        task->filtered.id = task->id;
        return true;
    }
    if (!gt_filtered_begin(&task->filtered, r, s, s->out, task->id)) {
        gt_output_close_stack(self, s);
        return false;
    }
    if (task->name[0])
        gt_filtered_name(&task->filtered, task->name, r->process.pid);
    return true;
}

static void stack_close(void *self, struct gt_stack *s)
{
    gt_filtered_end(&gt_task_of(s)->filtered);
    gt_output_close_stack(self, s);
}

const struct gt_sink gt_filtered_sink = {
    .enter = stack_enter,
    .leave = stack_leave,
    .suspended = stack_suspended,
    .resumed = stack_resumed,
    .ends = stack_ends,
    .handler = gt_handlers_begun,
    .open = stack_open,
    .close = stack_close,
    .data_size = sizeof(struct gt_task),
};

static void end_list(struct gt_stack *s)
{
    for (; s; s = s->next)
        gt_filtered_end(&gt_task_of(s)->filtered);
}

void gt_filtered_end_all(struct gt_uftrace_recorder *r)
{
    if (!gt_filters_current(&r->filters))
        return;
    end_list(r->tracker.stacks);
    end_list(r->tracker.ended);
}
