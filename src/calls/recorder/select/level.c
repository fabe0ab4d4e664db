/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace for each privilege level of each vCPU (trace-privilege-level=on).
 *
 * Calls, handlers and contexts are tracked as without it, but each call is recorded in the task of
 * the level that its code runs at (track/level.c).
 *
 * QEMU translates a block for one privilege level, that of the vCPU which is about to run it; so
 * the level is read at translation and belongs to the block. A change of level is found at a
 * transfer. A higher level than before was reached by an exception, in any case.
 *
 * A block has no world of aarch64: QEMU shares blocks among worlds. Only EL3 switches worlds, by an
 * exception return; so SCR_EL3 is read there. Each world has a call stack of its own, since the
 * code that EL3 interrupted continues when EL3 returns to that world.
 *
 * Task numbers: recording/texts/tasks.h.
 */
#include "calls/recorder/select/level.h"
#include "calls/recorder/output/tasks.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/select/filtered.h"
#include "calls/recorder/task.h"
#include "calls/recorder/vcpu.h"
#include "guest/arch/privilege.h"
#include "recording/texts/tasks.h"
#include "track/machine.h"

#include <stdio.h>

_Static_assert((int)GT_PRIVILEGE_LEVELS <= (int)GT_TASK_LEVELS, "each has a number");
_Static_assert((int)GT_PRIVILEGE_LEVELS <= (int)GT_TRACK_LEVELS, "the tracker has room for them");

struct gt_select_levels {
    unsigned vcpu;
    bool known_world;
    enum gt_arch_privilege_world world; /* where the levels below the highest run */
    struct {
        struct gt_stream *out;
        bool refused;                       /* no memory or room: not recorded */
        struct gt_select_filtered filtered; /* with filters */
    } level[GT_PRIVILEGE_LEVELS];
    struct {
        struct gt_stack *stack; /* NULL: not entered yet */
        uint64_t last_exit;
    } worlds[GT_WORLDS]; /* while another runs */
};

/* ---- changes ------------------------------------------------------------------------------- */

static unsigned level_at(const struct gt_vcpu *v, unsigned level)
{
    return v->levels->known_world ? gt_arch_privilege_in_world(level, v->levels->world) : level;
}

void gt_select_levels_begin(struct gt_vcpu *v, const struct gt_code *code)
{
    if (!v->levels)
        v->levels = g_new(struct gt_select_levels, 1);
    *v->levels = (struct gt_select_levels){.vcpu = gt_vcpu_index(v)};
    gt_track_set_level(&v->thread, gt_code_level(code), 0);
}

/* True where code of that level left the last exit. */
static bool is_left_at(const struct gt_vcpu *v, uint64_t last_exit, unsigned level)
{
    if (!last_exit)
        return false;
    return !(last_exit & GT_LAST_EXIT_CODE) ||
           level_at(v, gt_code_level(gt_track_last_exit_code(last_exit))) == level;
}

bool gt_select_level_transfer(const struct gt_recorder_transfer *t)
{
    struct gt_vcpu *v = t->vcpu;
    const uint8_t *rank = v->rec->levels.privilege->rank;
    unsigned from = gt_track_level(&v->thread), to = level_at(v, gt_code_level(t->code));
    if (to == from)
        return false;
    gt_track_set_level(&v->thread, to, t->time);
    if (rank[to] <= rank[from] || !is_left_at(v, t->last_exit, from) ||
        gt_recorder_last_exit_is_of(t->last_exit, GT_EXIT_EXCEPTION_RETURN))
        return false;
    gt_machine_enter(&v->thread, t->code->pc, t->code->fn, NULL, t->last_exit, t->time);
    return true;
}

void gt_select_level_enter(struct gt_vcpu *v, const struct gt_code *code, uint64_t time)
{
    struct gt_recorder *r = v->rec;
    unsigned level = gt_track_level(&v->thread);
    if (code) {
        level = level_at(v, gt_code_level(code));
    } else {
        pthread_mutex_lock(&r->lock);
        gt_select_level_read(r, &level);
        pthread_mutex_unlock(&r->lock);
    }
    if (level != gt_track_level(&v->thread))
        gt_track_set_level(&v->thread, level, time);
}

/* ---- worlds -------------------------------------------------------------------------------- */

bool gt_select_level_leaves_world(const struct gt_recorder *r, const struct gt_code *code)
{
    return r->options.privilege_levels && r->levels.privilege->world &&
           r->levels.privilege->rank[gt_code_level(code)] == 3;
}

void gt_select_level_change_world(struct gt_vcpu *v, const struct gt_code *code,
                                  uint64_t *last_exit, uint64_t time)
{
    struct gt_recorder *r = v->rec;
    struct gt_select_levels *l = v->levels;
    uint64_t value;
    if (!gt_host_register_read(&r->levels.world, r->levels.privilege->world_register, &value))
        return;
    enum gt_arch_privilege_world from = l->world, to = r->levels.privilege->world(value);
    bool changes = l->known_world && from != to;
    /* EL3 does not return to the frames that it leaves here: each world's stack would need a part
     * of them. */
    if (!v->thread.stack->n_handlers)
        gt_track_end_level(&v->thread, time);
    l->known_world = true;
    l->world = to;
    if (!changes)
        return;
    l->worlds[from].stack = v->thread.stack;
    l->worlds[from].last_exit = *last_exit;
    *last_exit = l->worlds[to].stack ? l->worlds[to].last_exit : gt_code_last_exit(code);
    gt_track_go_on(&v->thread, l->worlds[to].stack, time);
    l->worlds[to].stack = NULL;
}

void gt_select_levels_end(struct gt_vcpu *v, uint64_t time)
{
    for (size_t w = 0; w < GT_WORLDS; w++) {
        struct gt_stack *s = v->levels->worlds[w].stack;
        if (s && s != v->thread.stack)
            gt_track_end_other(&v->thread, s, time);
        v->levels->worlds[w].stack = NULL;
    }
}

/* ---- where records go ---------------------------------------------------------------------- */

static void open_level(struct gt_recorder *r, struct gt_select_levels *l, struct gt_stack *s,
                       unsigned level, uint64_t time)
{
    char name[32];
    uint32_t id = gt_recording_task_of_level(l->vcpu, level);
    snprintf(name, sizeof name, "cpu%u %s", l->vcpu, r->levels.privilege->names[level]);
    struct gt_stream *out = gt_recorder_output_open_task(r, id, name, time);
    if (out && gt_select_filters_current(&r->filters)) {
        struct gt_select_filtered *f = &l->level[level].filtered;
        if (gt_select_filtered_begin(f, r, s, out, id)) {
            f->level = level;
            gt_select_filtered_name(f, name, r->process.pid);
        } else {
            gt_stream_close(out);
            out = NULL;
        }
    }
    l->level[level].out = out;
    l->level[level].refused = !out;
    if (!out) /* it has no room for what a plain transfer puts */
        r->hot.vcpu[l->vcpu].thread.slow_flags |= GT_VCPU_ASKS;
}

static struct gt_stream *stream_of(struct gt_recorder *r, struct gt_select_levels *l,
                                   struct gt_stack *s, unsigned level, uint64_t time)
{
    if (!l->level[level].out && !l->level[level].refused)
        open_level(r, l, s, level, time);
    return l->level[level].out;
}

static struct gt_select_filtered *filtered_of(const struct gt_stack *s, uint32_t level)
{
    return &gt_recorder_task_of(s)->levels->level[gt_track_level_of(level)].filtered;
}

static void level_changed(void *self, struct gt_stack *s, uint64_t time)
{
    struct gt_recorder *r = self;
    struct gt_select_levels *levels = gt_recorder_task_of(s)->levels;
    struct gt_stream *out = stream_of(r, levels, s, gt_track_level_of(s->level), time);
    s->out = out ? (void *)out : levels; /* the stack is open in any case */
}

static void enter(void *self, struct gt_stack *s, uint64_t time, uint32_t depth, uint64_t addr)
{
    struct gt_recorder *r = self;
    struct gt_stream *out =
        stream_of(r, gt_recorder_task_of(s)->levels, s, gt_track_level_of(s->top->level), time);
    if (out && gt_select_filters_current(&r->filters))
        gt_select_filtered_enter(filtered_of(s, s->top->level), s->top, time);
    else if (out)
        gt_stream_put(out, time, gt_uftrace_entry(depth, addr));
}

static void leave(void *self, struct gt_stack *s, uint64_t time, uint32_t depth, uint64_t addr)
{
    struct gt_recorder *r = self;
    struct gt_stream *out =
        stream_of(r, gt_recorder_task_of(s)->levels, s, gt_track_level_of(s->top->level), time);
    if (out && gt_select_filters_current(&r->filters))
        gt_select_filtered_leave(filtered_of(s, s->top->level), time, NULL);
    else if (out)
        gt_stream_put(out, time, gt_uftrace_exit(depth, addr));
}

static bool open_stack(void *self, struct gt_track_thread *t, struct gt_stack *s, uint64_t time)
{
    const struct gt_vcpu *v =
        (const struct gt_vcpu *)((const char *)t - offsetof(struct gt_vcpu, thread));
    gt_recorder_task_of(s)->levels = v->levels;
    level_changed(self, s, time);
    return true;
}

static void end_stack(void *self, struct gt_stack *s, uint64_t time)
{
    struct gt_recorder *r = self;
    struct gt_select_levels *levels = gt_recorder_task_of(s)->levels;
    uint32_t depth[GT_PRIVILEGE_LEVELS] = {0};
    for (const struct gt_track_frame *f = s->top; f > s->base; f--)
        depth[gt_track_level_of(f->level)]++;
    for (size_t i = 0; i < GT_PRIVILEGE_LEVELS; i++) {
        if (gt_select_filters_current(&r->filters))
            gt_select_filtered_ends(&levels->level[i].filtered, time);
        else if (levels->level[i].out && depth[i])
            gt_recorder_open_calls_note(&r->open_calls, levels->level[i].out->id, time, depth[i]);
    }
}

static void close_stack(void *self, struct gt_stack *s)
{
    (void)self;
    struct gt_select_levels *levels = gt_recorder_task_of(s)->levels;
    for (size_t i = 0; i < GT_PRIVILEGE_LEVELS; i++) {
        gt_select_filtered_end(&levels->level[i].filtered);
        if (levels->level[i].out)
            gt_stream_close(levels->level[i].out);
    }
    s->out = NULL;
}

const struct gt_track_sink gt_select_level_sink = {
    .enter = enter,
    .leave = leave,
    .open = open_stack,
    .close = close_stack,
    .ends = end_stack,
    .handler = gt_recorder_handlers_begun,
    .level = level_changed,
    .data_size = sizeof(struct gt_recorder_task),
};
