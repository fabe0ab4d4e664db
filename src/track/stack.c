/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One call stack: its frames, and their records. See stack.h. */
#include "track/stack.h"
#include "track/tail_calls.h"

#include <stdlib.h>

enum { FIRST_FRAMES = 64 };

/* The sentinel frame's. */
static const struct gt_track_func no_func = {.flags = GT_FUNC_ANON};

struct gt_stack *gt_stack_create(struct gt_track *k)
{
    struct gt_stack *s = calloc(1, sizeof *s + k->sink->data_size);
    struct gt_track_frame *frames = calloc(FIRST_FRAMES, sizeof *frames);
    if (!s || !frames) {
        free(s);
        free(frames);
        return NULL;
    }
    frames[0] = (struct gt_track_frame){.ret = GT_NO_ADDR, .addr = GT_NO_ADDR, .fn = &no_func};
    s->data = s + 1;
    s->base = s->top = frames;
    s->sp = GT_NO_ADDR;
    s->limit = frames + FIRST_FRAMES;
    pthread_mutex_lock(&k->lock);
    s->next = k->stacks;
    k->stacks = s;
    k->n_stacks++;
    pthread_mutex_unlock(&k->lock);
    return s;
}

void gt_stack_free(struct gt_stack *s)
{
    free(s->base);
    free(s->handlers);
    free(s->injected);
    free(s);
}

void gt_stack_set_level(struct gt_stack *s, unsigned level)
{
    const struct gt_track_frame *f = s->top;
    while (f > s->base && gt_track_level_of(f->level) != level)
        f--;
    uint32_t own = f == s->base ? 0 : gt_track_level_depth((uint32_t)(f - s->base), f->level);
    s->level = level << GT_LEVEL_SHIFT | (gt_stack_depth(s) - own);
}

void gt_stack_unlink(struct gt_track *k, struct gt_stack *s)
{
    for (struct gt_stack **p = &k->stacks; *p; p = &(*p)->next)
        if (*p == s) {
            *p = s->next;
            return;
        }
}

static bool grow(struct gt_stack *s)
{
    size_t most = GT_TRACK_MAX_DEPTH + 1; /* the sentinel, too */
    size_t have = (size_t)(s->limit - s->base), want = 2 * have < most ? 2 * have : most;
    if (have == most)
        return false;
    size_t at = (size_t)(s->top - s->base);
    struct gt_track_frame *frames = realloc(s->base, want * sizeof *frames);
    if (!frames)
        return false;
    s->base = frames;
    s->top = frames + at;
    s->limit = frames + want;
    return true;
}

/* The top frame's depth, as it is recorded. */
static uint32_t top_depth(const struct gt_stack *s)
{
    return gt_track_level_depth(gt_stack_depth(s) - 1, s->top->level);
}

static void record_top(struct gt_track *k, struct gt_stack *s, uint64_t time)
{
    uint32_t depth = top_depth(s);
    if (depth < k->max_depth && s->out)
        k->sink->enter(k->sink_self, s, time, depth, s->top->addr);
}

void gt_stack_flush(struct gt_track *k, struct gt_stack *s)
{
    if (!(s->top->flags & GT_FRAME_DEFERRED))
        return;
    uint32_t depth = top_depth(s);
    s->top->flags &= (uint16_t)~GT_FRAME_DEFERRED;
    if (s->deferred_jump && depth < k->max_depth && s->out)
        k->sink->leave(k->sink_self, s, s->deferred_at, depth, s->jumper.addr);
    record_top(k, s, s->deferred_at);
}

/* Its frame is the top. */
static bool is_recorded(const struct gt_track_thread *t)
{
    return t->stack->out && top_depth(t->stack) < t->tracker->max_depth;
}

static void count_call(struct gt_track_thread *t)
{
    t->calls++;
    t->counters[GT_COUNT_BEYOND_DEPTH] += top_depth(t->stack) >= t->tracker->max_depth;
    t->unrecorded += !is_recorded(t);
}

/* The same call arrives elsewhere, and is counted there. */
static void uncount_call(struct gt_track_thread *t)
{
    t->calls--;
    t->counters[GT_COUNT_BEYOND_DEPTH] -= top_depth(t->stack) >= t->tracker->max_depth;
    t->unrecorded -= !is_recorded(t);
}

/* False: it is too deep. */
static bool push(struct gt_track_thread *t, struct gt_track_frame frame)
{
    struct gt_stack *s = t->stack;
    gt_stack_flush(t->tracker, s);
    if (s->top + 1 == s->limit && !grow(s)) {
        s->dropped++;
        t->counters[GT_ANOMALY_TOO_DEEP]++;
        return false;
    }
    frame.flags &= (uint16_t)~GT_FRAME_DEFERRED;
    frame.level = s->level;
    *++s->top = frame;
    count_call(t);
    return true;
}

void gt_stack_push(struct gt_track_thread *t, struct gt_track_frame frame, uint64_t time)
{
    if (push(t, frame))
        record_top(t->tracker, t->stack, time);
}

static void mark_deferred(struct gt_track_thread *t, uint64_t time)
{
    t->stack->top->flags |= GT_FRAME_DEFERRED;
    t->stack->deferred_at = time;
    t->slow_flags |= GT_SLOW_DEFERRED;
}

void gt_stack_defer(struct gt_track_thread *t, struct gt_track_frame frame, uint64_t time)
{
    if (!push(t, frame))
        return;
    t->stack->deferred_jump = false;
    mark_deferred(t, time);
}

void gt_stack_report_end(struct gt_track *k, struct gt_stack *s, uint64_t time)
{
    gt_stack_flush(k, s);
    if (s->out && gt_stack_depth(s) > 0 && k->sink->ends)
        k->sink->ends(k->sink_self, s, time);
}

void gt_stack_close(struct gt_track *k, struct gt_stack *s, uint32_t depth, uint64_t time)
{
    if (gt_stack_depth(s) > depth)
        gt_stack_flush(k, s);
    for (; gt_stack_depth(s) > depth; s->top--) {
        uint32_t at = top_depth(s);
        if (at < k->max_depth && s->out)
            k->sink->leave(k->sink_self, s, time, at, s->top->addr);
    }
    if (k->sink->level)
        gt_stack_set_level(s, gt_track_level_of(s->level));
}

void gt_stack_replace(struct gt_track_thread *t, const struct gt_code *code, uint64_t time)
{
    struct gt_stack *s = t->stack;
    gt_stack_flush(t->tracker, s);
    struct gt_track_frame frame = *s->top;
    if (gt_stack_depth(s) == 0)
        frame.kind = GT_FRAME_ROOT;
    else
        gt_stack_close(t->tracker, s, gt_stack_depth(s) - 1, time);
    frame.addr = code->pc;
    frame.fn = code->fn;
    gt_stack_push(t, frame, time);
}

/* The top frame stays open while the function that it jumped to runs. */
static bool stays_open(const struct gt_stack *s)
{
    const struct gt_track_frame *top = s->top;
    return top > s->base && top->fn->flags & GT_FUNC_RESULT &&
           (top->kind == GT_FRAME_CALL || top->kind == GT_FRAME_TAIL) &&
           top - gt_track_tail_called(s) < GT_TAIL_MOST;
}

void gt_stack_tail_call(struct gt_track_thread *t, const struct gt_code *code, uint64_t time)
{
    gt_stack_flush(t->tracker, t->stack);
    if (stays_open(t->stack))
        gt_stack_push(t, (struct gt_track_frame){GT_NO_ADDR, code->pc, code->fn, GT_FRAME_TAIL},
                      time);
    else
        gt_stack_replace(t, code, time);
}

void gt_stack_defer_jump(struct gt_track_thread *t, const struct gt_code *code, uint64_t time)
{
    struct gt_stack *s = t->stack;
    gt_stack_flush(t->tracker, s);
    if (gt_stack_depth(s) == 0 || stays_open(s)) {
        gt_stack_tail_call(t, code, time);
        return;
    }
    s->jumper = *s->top;
    s->deferred_jump = true;
    s->top->addr = code->pc;
    s->top->fn = code->fn;
    count_call(t);
    mark_deferred(t, time);
}

bool gt_stack_pass_on(struct gt_track_thread *t, const struct gt_code *code, uint64_t time)
{
    struct gt_stack *s = t->stack;
    if (!(s->top->flags & GT_FRAME_DEFERRED))
        return false;
    bool back = !code->entry && s->jumper.fn == code->fn && !(code->fn->flags & GT_FUNC_ANON);
    if (s->deferred_jump && !back)
        return false;
    uncount_call(t);
    if (s->deferred_jump) {
        *s->top = s->jumper;
        return true;
    }
    struct gt_track_frame frame = *s->top--;
    frame.addr = code->pc;
    frame.fn = code->fn;
    gt_stack_push(t, frame, time);
    return true;
}

void gt_stack_enter_again(struct gt_track *k, struct gt_stack *s, uint64_t time)
{
    uint32_t depth = gt_stack_depth(s);
    uint64_t again = 0;
    for (uint32_t i = 1; i <= depth; i++) {
        s->top = s->base + i;
        s->top->flags &= (uint16_t)~GT_FRAME_DEFERRED;
        record_top(k, s, time);
        again += s->out && top_depth(s) < k->max_depth;
    }
    __atomic_fetch_add(&k->again, again, __ATOMIC_RELAXED);
}

void gt_stack_forget_signals(struct gt_track_thread *t, uint32_t depth)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->n_signals; i++)
        if (t->signals[i].stack != t->stack || t->signals[i].depth <= depth)
            t->signals[kept++] = t->signals[i];
    t->n_signals = kept;
}

void gt_stack_open(struct gt_track_thread *t, uint64_t time)
{
    struct gt_track *k = t->tracker;
    struct gt_stack *s = t->stack;
    if (!s->out && k->sink->open(k->sink_self, t, s, time))
        gt_stack_enter_again(k, s, time);
    if (s->top->flags & GT_FRAME_DEFERRED)
        t->slow_flags |= GT_SLOW_DEFERRED;
    if (s->n_injected || t->injection.pc)
        t->slow_flags |= GT_SLOW_INJECTED;
    else
        t->slow_flags &= ~(uint32_t)GT_SLOW_INJECTED;
    if (s->out)
        t->slow_flags &= ~(uint32_t)GT_SLOW_SILENT;
    else
        t->slow_flags |= GT_SLOW_SILENT;
}

uint32_t gt_stack_find_return(const struct gt_stack *s, uint64_t pc)
{
    for (const struct gt_track_frame *f = s->top; f > s->base; f--)
        if (f->ret == pc)
            return (uint32_t)(f - s->base);
    return 0;
}

/* Code without symbols has many functions in
 * one: there the nearest entry at or below the block counts, if it is near. */
bool gt_track_frame_owns(const struct gt_track_frame *f, const struct gt_code *code)
{
    enum { NEAR = 64 << 10 };
    return f->fn == code->fn && (!(code->fn->flags & GT_FUNC_ANON) ||
                                 (f->addr <= code->pc && code->pc - f->addr < NEAR));
}

uint32_t gt_stack_find_function(const struct gt_stack *s, const struct gt_code *code,
                                unsigned *candidates)
{
    const struct gt_track_frame *best = NULL;
    *candidates = 0;
    for (const struct gt_track_frame *f = s->top; f > s->base; f--) {
        if (!gt_track_frame_owns(f, code) || gt_track_tail_has_jumped(s, f) ||
            (best && f->addr < best->addr))
            continue;
        *candidates = best && f->addr == best->addr ? *candidates + 1 : 1;
        if (!best || f->addr > best->addr)
            best = f;
    }
    return best ? (uint32_t)(best - s->base) : 0;
}
