/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies of what the tracker knows of a machine: see checkpoint.h. */
#include "track/checkpoint.h"
#include "track/guests.h"
#include "track/stack.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 64 << 20 };

/* A stack, without its output and the sink's data. */
struct copy {
    struct gt_stack was; /* its pointers are not used */
    uint32_t n_frames;   /* with the sentinel */
    struct gt_track_frame *frames;
    struct gt_track_handler *handlers;
    const struct gt_stack *from;
    struct gt_stack *now; /* while it is restored: what continues it */
};

struct saved {
    uint32_t at, stack; /* its index in the table; its stack's in the checkpoint */
    struct gt_track_saved_context context;
};

struct gt_track_checkpoint {
    struct copy *stacks;
    uint32_t n_stacks;
    struct saved *saved;
    uint32_t n_saved;
    struct gt_track_fork_snapshot *fork_snapshots; /* NULL: none */
    size_t bytes;
};

/* The slow flags that are of a moment, and not of the thread. */
enum { OF_MOMENT = GT_SLOW_SWITCHED | GT_SLOW_LONGJMP };

/* ---- making -------------------------------------------------------------------------------- */

/* `n` of them, copied. NULL where n is 0, too. */
static void *duplicate(struct gt_track_checkpoint *c, const void *from, size_t n, size_t size)
{
    void *to = n && (c->bytes += n * size) <= MOST_BYTES ? malloc(n * size) : NULL;
    return to ? memcpy(to, from, n * size) : NULL;
}

static bool copy_stack(struct gt_track_checkpoint *c, struct gt_stack *s, struct copy *to)
{
    *to = (struct copy){.was = *s, .n_frames = gt_stack_depth(s) + 1, .from = s};
    to->frames = duplicate(c, s->base, to->n_frames, sizeof *to->frames);
    to->handlers = duplicate(c, s->handlers, s->n_handlers, sizeof *to->handlers);
    return to->frames && (to->handlers || !s->n_handlers);
}

static bool copy_stacks(struct gt_track_checkpoint *c, struct gt_track *k)
{
    uint32_t n = 0;
    for (const struct gt_stack *s = k->stacks; s; s = s->next)
        n++;
    c->stacks = calloc(n ? n : 1, sizeof *c->stacks);
    if (!c->stacks)
        return false;
    for (struct gt_stack *s = k->stacks; s; s = s->next) {
        s->index = c->n_stacks;
        if (!copy_stack(c, s, &c->stacks[c->n_stacks++]))
            return false;
    }
    return true;
}

static bool copy_saved(struct gt_track_checkpoint *c, const struct gt_track *k)
{
    uint32_t n = 0;
    for (size_t i = 0; i < GT_TRACK_SAVED_CONTEXTS; i++)
        n += k->saved_contexts[i].slot != 0;
    c->saved = calloc(n ? n : 1, sizeof *c->saved);
    for (uint32_t i = 0; i < GT_TRACK_SAVED_CONTEXTS && c->saved; i++) {
        const struct gt_track_saved_context *save = &k->saved_contexts[i];
        if (save->slot)
            c->saved[c->n_saved++] = (struct saved){i, save->stack->index, *save};
    }
    c->bytes += n * sizeof *c->saved;
    return c->saved != NULL;
}

static bool copy_all(struct gt_track_checkpoint *c, struct gt_track *k)
{
    return !k->guests && copy_stacks(c, k) && copy_saved(c, k) &&
           gt_track_fork_snapshots_copy(k, &c->fork_snapshots, &c->bytes) && c->bytes <= MOST_BYTES;
}

struct gt_track_checkpoint *gt_track_checkpoint_make(struct gt_track *k)
{
    struct gt_track_checkpoint *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    pthread_mutex_lock(&k->lock);
    bool ok = copy_all(c, k);
    pthread_mutex_unlock(&k->lock);
    if (ok)
        return c;
    gt_track_checkpoint_free(c);
    return NULL;
}

void gt_track_checkpoint_free(struct gt_track_checkpoint *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->n_stacks; i++) {
        free(c->stacks[i].frames);
        free(c->stacks[i].handlers);
    }
    free(c->stacks);
    free(c->saved);
    free(c->fork_snapshots);
    free(c);
}

void gt_track_checkpoint_thread(const struct gt_track_thread *t,
                                struct gt_track_thread_checkpoint *out)
{
    *out = (struct gt_track_thread_checkpoint){
        .stack = t->stack->index,
        .slow_flags = t->slow_flags & OF_MOMENT,
        .passed = t->passed,
        .calls = t->calls,
        .calling_sp = t->calling_sp,
        .returned_sp = t->returned_sp,
        .nonlocal = t->nonlocal,
        .reloaded = t->reloaded,
    };
}

/* ---- restoring ----------------------------------------------------------------------------- */

void gt_track_checkpoint_leave(struct gt_track_thread *t, uint64_t time)
{
    struct gt_track *k = t->tracker;
    struct gt_stack *s = t->stack;
    gt_track_guests_end(t, time);
    s->last_time = time > s->last_time ? time : s->last_time;
    if (k->one_output)
        s->out = NULL; /* the thread's: that of the stack which it continues with */
    pthread_mutex_lock(&k->lock);
    s->thread = NULL;
    gt_stack_end(k, s);
    pthread_mutex_unlock(&k->lock);
    t->stack = NULL;
}

/* The ended stack of the copy, in the list of those that go on; NULL: it was freed. With the lock.
 */
static struct gt_stack *revive(struct gt_track *k, const struct gt_stack *from)
{
    for (struct gt_stack **p = &k->ended; *p; p = &(*p)->next)
        if (*p == from) {
            struct gt_stack *s = *p;
            *p = s->next;
            s->next = k->stacks;
            s->ended = false;
            k->stacks = s;
            return s;
        }
    return NULL;
}

/* Room for the copy's frames and handlers. */
static bool make_room(struct gt_stack *s, const struct copy *copy)
{
    size_t have = (size_t)(s->limit - s->base), want = (size_t)copy->n_frames + 1;
    if (have < want) {
        struct gt_track_frame *frames = realloc(s->base, want * sizeof *frames);
        if (!frames)
            return false;
        s->base = s->top = frames;
        s->limit = frames + want;
    }
    if (s->cap_handlers < copy->was.n_handlers) {
        struct gt_track_handler *grown = realloc(s->handlers, copy->was.n_handlers * sizeof *grown);
        if (!grown)
            return false;
        s->handlers = grown;
        s->cap_handlers = copy->was.n_handlers;
    }
    return true;
}

static void put_back(const struct copy *copy)
{
    const struct gt_stack *was = &copy->was;
    struct gt_stack *s = copy->now;
    memcpy(s->base, copy->frames, copy->n_frames * sizeof *copy->frames);
    if (was->n_handlers)
        memcpy(s->handlers, copy->handlers, was->n_handlers * sizeof *copy->handlers);
    s->top = s->base + copy->n_frames - 1;
    s->n_handlers = was->n_handlers;
    s->dropped = was->dropped;
    s->coroutine = was->coroutine;
    s->cut = was->cut;
    s->level = was->level;
    s->maybe = was->maybe;
    s->sp = was->sp;
    s->sp_before_load = was->sp_before_load;
    s->resumes = was->resumes;
}

/* Where it has an output: else its calls are entered when that is opened. */
static void enter_again(struct gt_track *k, struct gt_stack *s, bool suspended, uint64_t time)
{
    s->last_time = time > s->last_time ? time : s->last_time;
    if (!s->out)
        return;
    gt_stack_enter_again(k, s, s->last_time);
    if (suspended && k->sink->suspended)
        k->sink->suspended(k->sink_self, s, s->last_time);
}

static bool find_stacks(struct gt_track *k, struct gt_track_checkpoint *c)
{
    bool all = true;
    for (uint32_t i = 0; i < c->n_stacks && all; i++) {
        struct copy *copy = &c->stacks[i];
        pthread_mutex_lock(&k->lock);
        copy->now = revive(k, copy->from);
        pthread_mutex_unlock(&k->lock);
        if (!copy->now)
            copy->now = gt_stack_create(k);
        all = copy->now && make_room(copy->now, copy);
    }
    for (uint32_t i = 0; i < c->n_stacks && !all; i++) {
        struct gt_stack *s = c->stacks[i].now;
        pthread_mutex_lock(&k->lock);
        if (s)
            gt_stack_end(k, s);
        c->stacks[i].now = NULL;
        pthread_mutex_unlock(&k->lock);
    }
    return all;
}

static void put_saved_back(struct gt_track *k, const struct gt_track_checkpoint *c)
{
    memset(k->saved_contexts, 0, GT_TRACK_SAVED_CONTEXTS * sizeof *k->saved_contexts);
    for (uint32_t i = 0; i < c->n_saved; i++) {
        struct gt_track_saved_context *save = &k->saved_contexts[c->saved[i].at];
        *save = c->saved[i].context;
        save->stack = c->stacks[c->saved[i].stack].now;
    }
}

bool gt_track_checkpoint_restore(struct gt_track *k, struct gt_track_checkpoint *c, uint64_t time)
{
    for (uint32_t i = 0; i < c->n_stacks; i++)
        c->stacks[i].now = NULL;
    if (!find_stacks(k, c))
        return false;
    pthread_mutex_lock(&k->lock);
    put_saved_back(k, c);
    gt_track_fork_snapshots_restore(k, c->fork_snapshots);
    pthread_mutex_unlock(&k->lock);
    for (uint32_t i = 0; i < c->n_stacks; i++) {
        put_back(&c->stacks[i]);
        enter_again(k, c->stacks[i].now, !c->stacks[i].was.thread, time);
    }
    return true;
}

void gt_track_checkpoint_resume(struct gt_track_thread *t, const struct gt_track_checkpoint *c,
                                const struct gt_track_thread_checkpoint *at, uint64_t time)
{
    struct gt_stack *s = t->stack = c->stacks[at->stack].now;
    s->thread = t;
    for (size_t i = 0; i < s->n_handlers; i++)
        s->handlers[i].calls += t->calls - at->calls;
    t->slow_flags |= at->slow_flags;
    t->passed = at->passed;
    t->calling_sp = at->calling_sp;
    t->returned_sp = at->returned_sp;
    t->nonlocal = at->nonlocal;
    t->reloaded = at->reloaded;
    if (t->reloaded.slot)
        t->reloaded.stack = s;
    gt_stack_set_level(s, gt_track_level(t));
    gt_stack_open(t, time > s->last_time ? time : s->last_time);
}

bool gt_track_checkpoint_begin(struct gt_track_thread *t, bool cut, uint64_t time)
{
    struct gt_stack *s = gt_stack_take(t->tracker);
    if (!s)
        return false;
    s->coroutine = true;
    s->thread = t;
    s->cut = cut;
    t->stack = s;
    gt_stack_set_level(s, gt_track_level(t));
    gt_stack_open(t, time);
    return true;
}
