/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Life of trackers, threads and call stacks, and what is recorded of them: see track.h. */
#include "track/stack.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_FRAMES = 64 };

/* The sentinel frame's. */
static const struct gt_func no_func = {.flags = GT_FUNC_ANON};

void gt_code_set_special(struct gt_code *code)
{
    bool special = code->fn->flags & (GT_FUNC_STUB | GT_FUNC_HANDLER | GT_FUNC_UNWINDING);
    code->special = (code->special & GT_CODE_LEVEL) | (special ? GT_CODE_SPECIAL : 0);
}

struct gt_stack *gt_stack_create(struct gt_tracker *k)
{
    struct gt_stack *s = calloc(1, sizeof *s);
    struct gt_frame *frames = calloc(FIRST_FRAMES, sizeof *frames);
    if (!s || !frames) {
        free(s);
        free(frames);
        return NULL;
    }
    frames[0] = (struct gt_frame){.ret = GT_NO_ADDR, .addr = GT_NO_ADDR, .fn = &no_func};
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

static void stack_free(struct gt_stack *s)
{
    free(s->base);
    free(s->handlers);
    free(s);
}

static void unlink_stack(struct gt_tracker *k, struct gt_stack *s)
{
    for (struct gt_stack **p = &k->stacks; *p; p = &(*p)->next)
        if (*p == s) {
            *p = s->next;
            return;
        }
}

bool gt_tracker_init(struct gt_tracker *k, const struct gt_sink *sink, uint32_t max_depth,
                     bool tail_calls)
{
    *k = (struct gt_tracker){.sink = sink, .max_depth = max_depth, .tail_calls = tail_calls};
    k->saves = calloc(GT_TRACK_SAVES, sizeof *k->saves);
    return k->saves && pthread_mutex_init(&k->lock, NULL) == 0;
}

static void free_list(struct gt_stack *s)
{
    while (s) {
        struct gt_stack *next = s->next;
        stack_free(s);
        s = next;
    }
}

void gt_tracker_finish(struct gt_tracker *k)
{
    free_list(k->stacks);
    free_list(k->ended);
    free(k->saves);
    free(k->made);
    pthread_mutex_destroy(&k->lock);
}

bool gt_thread_init(struct gt_thread *t, struct gt_tracker *k, uint64_t time)
{
    *t = (struct gt_thread){.tracker = k,
                            .attention = t->attention &
                                         (GT_ATTENTION_OWNER | GT_ATTENTION_CLOCK | GT_CODE_LEVEL)};
    t->stack = gt_stack_create(k);
    if (!t->stack)
        return false;
    t->stack->running = true;
    gt_stack_set_level(t->stack, gt_track_level(t));
    gt_stack_open(t, time);
    return t->stack->out != NULL;
}

static void stack_finish(struct gt_tracker *k, struct gt_stack *s, uint64_t time)
{
    gt_stack_close(k, s, 0, time);
    if (s->out)
        k->sink->close(k->sink->self, s);
    pthread_mutex_lock(&k->lock);
    unlink_stack(k, s);
    for (size_t i = 0; i < GT_TRACK_SAVES; i++)
        if (k->saves[i].stack == s)
            k->saves[i].slot = 0;
    pthread_mutex_unlock(&k->lock);
    stack_free(s);
}

void gt_thread_finish(struct gt_thread *t, uint64_t time)
{
    if (t->stack)
        stack_finish(t->tracker, t->stack, time);
    free(t->signals);
    t->signals = NULL;
    t->n_signals = t->cap_signals = 0;
    t->stack = NULL;
}

/* A suspended stack goes on, or ends. */
static void tell_resumed(struct gt_tracker *k, struct gt_stack *s, uint64_t time)
{
    if (s->out && k->sink->resumed)
        k->sink->resumed(s, time);
}

void gt_tracker_close_suspended(struct gt_tracker *k, uint64_t time)
{
    pthread_mutex_lock(&k->lock);
    for (struct gt_stack *s = k->stacks; s; s = s->next)
        if (!s->running) {
            uint64_t end = time > s->last_time ? time : s->last_time;
            tell_resumed(k, s, end);
            gt_stack_close(k, s, 0, end);
        }
    pthread_mutex_unlock(&k->lock);
}

static bool grow(struct gt_stack *s)
{
    size_t most = GT_TRACK_MAX_DEPTH + 1; /* the sentinel, too */
    size_t have = (size_t)(s->limit - s->base), want = 2 * have < most ? 2 * have : most;
    if (have == most)
        return false;
    size_t at = (size_t)(s->top - s->base);
    struct gt_frame *frames = realloc(s->base, want * sizeof *frames);
    if (!frames)
        return false;
    s->base = frames;
    s->top = frames + at;
    s->limit = frames + want;
    return true;
}

void gt_stack_push(struct gt_thread *t, struct gt_frame frame, uint64_t time)
{
    struct gt_stack *s = t->stack;
    if (s->top + 1 == s->limit && !grow(s)) {
        s->dropped++;
        t->doubts[GT_DOUBT_TOO_DEEP]++;
        return;
    }
    uint32_t depth = gt_level_depth(gt_stack_depth(s), s->level);
    frame.level = s->level;
    *++s->top = frame;
    t->calls++;
    if (depth >= t->tracker->max_depth)
        t->doubts[GT_DOUBT_BEYOND_DEPTH]++;
    else if (s->out)
        t->tracker->sink->enter(s, time, depth, frame.addr);
}

void gt_stack_close(struct gt_tracker *k, struct gt_stack *s, uint32_t depth, uint64_t time)
{
    for (; gt_stack_depth(s) > depth; s->top--) {
        uint32_t at = gt_level_depth(gt_stack_depth(s) - 1, s->top->level);
        if (at < k->max_depth && s->out)
            k->sink->leave(s, time, at, s->top->addr);
    }
    if (k->sink->level)
        gt_stack_set_level(s, gt_level_of(s->level));
}

void gt_stack_replace(struct gt_thread *t, const struct gt_code *code, uint64_t time)
{
    struct gt_stack *s = t->stack;
    struct gt_frame frame = *s->top;
    if (gt_stack_depth(s) == 0)
        frame.kind = GT_FRAME_ROOT;
    else
        gt_stack_close(t->tracker, s, gt_stack_depth(s) - 1, time);
    frame.addr = code->pc;
    frame.fn = code->fn;
    gt_stack_push(t, frame, time);
}

void gt_stack_enter_again(struct gt_tracker *k, struct gt_stack *s, uint64_t time)
{
    uint32_t depth = gt_stack_depth(s);
    for (uint32_t i = 1; i <= depth; i++) {
        s->top = s->base + i;
        uint32_t at = gt_level_depth(i - 1, s->top->level);
        if (at < k->max_depth && s->out)
            k->sink->enter(s, time, at, s->top->addr);
    }
}

void gt_stack_forget_signals(struct gt_thread *t, uint32_t depth)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->n_signals; i++)
        if (t->signals[i].stack != t->stack || t->signals[i].depth <= depth)
            t->signals[kept++] = t->signals[i];
    t->n_signals = kept;
}

void gt_stack_open(struct gt_thread *t, uint64_t time)
{
    struct gt_tracker *k = t->tracker;
    struct gt_stack *s = t->stack;
    if (!s->out && k->sink->open(k->sink->self, t, s, time))
        gt_stack_enter_again(k, s, time);
    if (s->out)
        t->attention &= ~(uint32_t)GT_ATTENTION_SILENT;
    else
        t->attention |= GT_ATTENTION_SILENT;
}

/* A coroutine whose first function has returned, and what called it has left for good. */
static bool has_ended(const struct gt_thread *t, const struct gt_stack *s)
{
    const struct gt_tracker *k = t->tracker;
    uint32_t depth = gt_stack_depth(s);
    if (!s->coroutine || k->machine)
        return false;
    if (depth == 0 || s->base[1].kind != GT_FRAME_ROOT)
        return true;
    return depth <= 2 && t->leap.for_good && !gt_saves_any(k, s);
}

void gt_stack_end(struct gt_tracker *k, struct gt_stack *s)
{
    tell_resumed(k, s, s->last_time);
    gt_stack_close(k, s, 0, s->last_time);
    s->n_handlers = 0;
    s->base->doubtful = 0;
    s->sp = GT_NO_ADDR;
    for (size_t i = 0; i < GT_TRACK_SAVES && k->machine; i++)
        if (k->saves[i].stack == s)
            k->saves[i].slot = 0;
    unlink_stack(k, s);
    s->next = k->ended;
    k->ended = s;
}

/* The output is another stack's from now on: the frames stay open in here only. */
static void give_output_up(struct gt_tracker *k, struct gt_stack *s, uint64_t time)
{
    struct gt_frame *top = s->top;
    gt_stack_close(k, s, 0, time);
    s->top = top;
    s->out = NULL;
}

static void suspend(struct gt_thread *t, uint64_t time)
{
    struct gt_tracker *k = t->tracker;
    struct gt_stack *s = t->stack;
    pthread_mutex_lock(&k->lock);
    s->last_time = time;
    if (k->one_output)
        give_output_up(k, s, time);
    if (has_ended(t, s))
        gt_stack_end(k, s);
    else if (s->out && k->sink->suspended)
        k->sink->suspended(s, time);
    s->running = false;
    pthread_mutex_unlock(&k->lock);
}

static struct gt_stack *take_ended(struct gt_tracker *k)
{
    pthread_mutex_lock(&k->lock);
    struct gt_stack *s = k->ended;
    if (s) {
        k->ended = s->next;
        s->next = k->stacks;
        k->stacks = s;
    }
    pthread_mutex_unlock(&k->lock);
    return s;
}

void gt_stack_switch(struct gt_thread *t, struct gt_stack *s, uint64_t time)
{
    suspend(t, time);
    s->running = true;
    t->stack = s;
    gt_stack_set_level(s, gt_track_level(t));
    t->doubts[GT_DOUBT_SWITCHED]++;
    tell_resumed(t->tracker, s, time > s->last_time ? time : s->last_time);
    gt_stack_open(t, time);
}

void gt_stack_begin(struct gt_thread *t, uint64_t time)
{
    struct gt_tracker *k = t->tracker;
    struct gt_stack *s = k->n_stacks < k->keep_stacks ? NULL : take_ended(k);
    if (!s)
        s = gt_stack_create(k);
    if (!s)
        return;
    s->coroutine = true;
    gt_stack_switch(t, s, time);
}

void gt_track_forked(struct gt_thread *t, uint64_t time)
{
    struct gt_tracker *k = t->tracker;
    pthread_mutex_init(&k->lock, NULL);
    for (struct gt_stack *s = k->stacks; s; s = s->next)
        s->out = NULL;
    for (struct gt_stack *s = k->ended; s; s = s->next)
        s->out = NULL;
    t->calls = t->matched = 0;
    memset(t->doubts, 0, sizeof t->doubts);
    gt_stack_open(t, time);
}

void gt_track_exec(struct gt_thread *t, uint64_t time)
{
    struct gt_stack *s = t->stack;
    struct gt_frame *top = s->top;
    gt_stack_close(t->tracker, s, 0, time);
    s->top = top;
}

void gt_track_exec_failed(struct gt_thread *t, uint64_t time)
{
    gt_stack_enter_again(t->tracker, t->stack, time);
}

uint64_t gt_track_sigreturn(struct gt_thread *t, uint64_t mark, uint64_t time)
{
    gt_stack_forget_signals(t, gt_stack_depth(t->stack));
    size_t i = t->n_signals;
    while (i > 0 && t->signals[i - 1].stack != t->stack)
        i--;
    if (i == 0) {
        t->doubts[GT_DOUBT_UNKNOWN_SIGRETURN]++;
        return mark;
    }
    struct gt_signal_entry e = t->signals[i - 1];
    t->matched++;
    t->doubts[GT_DOUBT_SIGNALS] += !e.confirmed;
    t->leap = e.leap;
    if (e.switched)
        t->attention |= GT_ATTENTION_SWITCHED;
    gt_stack_close(t->tracker, t->stack, e.depth - 1, time);
    gt_stack_forget_signals(t, e.depth - 1);
    return e.mark | GT_MARK_RESUME;
}
