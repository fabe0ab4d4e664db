/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stack pointer of a program was loaded: see switches.h. */
#include "track/switches.h"
#include "track/returns.h"
#include "track/stack.h"
#include "track/stack_memory.h"
#include "track/tail_calls.h"

#include <string.h>

enum {
    NEAR = 512,     /* bytes that a switch may have pushed or popped, or an alignment skips */
    FAR = 64 << 10, /* an array of variable length is seldom longer */
};

/* A stack pointer, and the part of a call stack whose it is. */
struct home {
    struct gt_stack *stack;
    uint32_t depth; /* frames of that part and below */
    unsigned part;  /* number of excursions before it */
    uint64_t sp;
};

/* Excursions of frames that have returned are over. */
static void drop_excursions(struct gt_stack *s)
{
    while (s->n_excursions && s->excursions[s->n_excursions - 1].depth > gt_stack_depth(s))
        s->n_excursions--;
}

/* A coroutine's stack ends where it began. */
static bool is_beyond(const struct gt_stack *s, uint64_t sp)
{
    return s->begin_sp && sp > s->begin_sp + NEAR;
}

static void consider(struct home *best, struct gt_stack *s, uint64_t own_sp, uint64_t sp)
{
    for (unsigned i = 0; i <= s->n_excursions; i++) {
        bool last = i == s->n_excursions;
        uint64_t at = last ? own_sp : s->excursions[i].sp;
        if (i == 0 && is_beyond(s, sp))
            continue; /* other memory than that which it began in has other bounds */
        if (at && at <= sp && (!best->stack || at > best->sp))
            *best = (struct home){s, last ? gt_stack_depth(s) : s->excursions[i].depth, i, at};
    }
}

static struct home find_home(struct gt_track_thread *t, uint64_t sp)
{
    struct gt_track *k = t->tracker;
    struct home best = {0};
    drop_excursions(t->stack);
    consider(&best, t->stack, t->nonlocal.left_sp, sp);
    pthread_mutex_lock(&k->lock);
    for (struct gt_stack *s = k->stacks; s; s = s->next)
        if (!s->thread && s->sp != GT_NO_ADDR)
            consider(&best, s, s->sp, sp);
    pthread_mutex_unlock(&k->lock);
    return best;
}

/* The suspended stack whose stack pointer was loaded before from where it was
 * loaded now. */
static struct gt_stack *find_by_word(struct gt_track_thread *t)
{
    struct gt_track *k = t->tracker;
    uint64_t word = t->nonlocal.word;
    pthread_mutex_lock(&k->lock);
    struct gt_stack *s = word ? k->stacks : NULL;
    while (s && (s->thread || s->word != word))
        s = s->next;
    pthread_mutex_unlock(&k->lock);
    return s;
}

/* ---- frames in memory ---------------------------------------------------------------------- */

/* Sets *remain to the number of frames that remain: those above have their return addresses below
 * sp. The innermost frame, and one that a signal has interrupted, may have it in a register. */
static bool find_frames(struct gt_track_thread *t, uint64_t left_sp, uint64_t sp, uint32_t *remain)
{
    const struct gt_track_program_view *view = t->tracker->view;
    const struct gt_stack *s = t->stack;
    uint32_t depth = gt_stack_depth(s);
    struct gt_stack_words w = {.t = t, .end = sp};
    w.at = left_sp - left_sp % (view ? view->word : 1);
    *remain = depth;
    if (!view || !view->read)
        return true;
    if (sp - left_sp > GT_STACK_LONGEST)
        return false;
    bool may_miss = !view->by_memory;
    for (uint32_t i = depth; i > 0; i--) {
        const struct gt_track_frame *f = &s->base[i];
        if (f->kind == GT_FRAME_TAIL)
            continue;
        if (f->kind == GT_FRAME_SIGNAL)
            may_miss = !view->by_memory;
        else if (f->ret == GT_NO_ADDR)
            break;
        else if (gt_stack_words_find(&w, f->ret))
            *remain = i - 1;
        else if (may_miss)
            may_miss = false;
        else
            break;
    }
    return !w.ends;
}

/* True where the stack pointer is where the innermost frame of a suspended stack was entered, and
 * its return address is near: a function is called there, in the place of the switch's return. */
static bool is_on_top(struct gt_track_thread *t, const struct gt_stack *s, uint64_t sp)
{
    enum { SAVED = 64 }; /* frame pointer, return address and others, saved last */
    const struct gt_track_frame *called = gt_track_tail_called(s);
    if (!t->tracker->view || sp - s->sp > NEAR || called == s->base)
        return false;
    uint64_t at = sp - s->sp > SAVED ? sp - SAVED : s->sp, word = t->tracker->view->word;
    struct gt_stack_words w = {.t = t, .at = at - at % word, .end = sp + word};
    return gt_stack_words_find(&w, called->ret);
}

/* ---- where control continues ---------------------------------------------------------------- */

/* The innermost frame up to that depth that returns to pc; 0: none. */
static uint32_t find_return(const struct gt_stack *s, uint32_t depth, uint64_t pc)
{
    while (depth > 0 && s->base[depth].ret != pc)
        depth--;
    return depth;
}

static void end_stack(struct gt_track *k, struct gt_stack *s)
{
    pthread_mutex_lock(&k->lock);
    if (!s->thread && !s->ended)
        gt_stack_end(k, s);
    pthread_mutex_unlock(&k->lock);
}

/* The other memory that a suspended stack was on is another one's now: its functions there do not
 * return. */
static void leave_excursion(struct gt_track *k, struct gt_stack *s)
{
    pthread_mutex_lock(&k->lock);
    if (!s->thread && !s->ended && s->n_excursions) {
        const struct gt_track_excursion *e = &s->excursions[--s->n_excursions];
        gt_stack_close(k, s, e->depth, s->last_time);
        s->sp = e->sp;
    }
    pthread_mutex_unlock(&k->lock);
}

/* The stack was copied to other memory, to have more room: its used part is as long there. */
static void note_copied(struct gt_stack *s, uint64_t sp)
{
    uint64_t old = s->excursions[0].sp;
    if (s->n_excursions && s->begin_sp >= old && s->begin_sp - old < GT_STACK_LONGEST)
        s->begin_sp += sp - old;
    s->n_excursions = 0;
}

/* Control is in the frames up to that depth of a suspended stack. False: it is not. */
static bool continues_other(struct gt_track_thread *t, const struct home *home,
                            const struct gt_code *from, const struct gt_code *code, uint64_t sp,
                            uint64_t time)
{
    struct gt_stack *s = home->stack;
    uint32_t frame = find_return(s, home->depth, code->pc);
    bool on_top = !from && code->entry && home->part == s->n_excursions && is_on_top(t, s, sp);
    unsigned candidates = 0;
    if (!frame && !on_top) {
        frame = code->entry ? 0 : gt_stack_find_function(s, code, &candidates) + 1;
        if (candidates != 1 || frame > home->depth + 1)
            return false;
    }
    s->n_excursions = home->part;
    if (frame) {
        gt_track_return_resume(t, s, frame - 1, time);
    } else {
        gt_stack_switch(t, s, time);
        gt_stack_tail_call(t, code, time);
    }
    return true;
}

static bool begin(struct gt_track_thread *t, const struct gt_code *code, uint64_t sp, uint64_t time)
{
    struct gt_stack *from = t->stack;
    gt_stack_begin(t, time);
    if (t->stack == from)
        return false;
    t->stack->begin_sp = sp;
    gt_stack_push(t, (struct gt_track_frame){GT_NO_ADDR, code->pc, code->fn, GT_FRAME_ROOT}, time);
    return true;
}

static bool returns_to_own(const struct gt_track_thread *t, const struct gt_code *code)
{
    return find_return(t->stack, gt_stack_depth(t->stack), code->pc);
}

/* The stack pointer is on no known stack: the running one may have been moved, or one begins. */
static bool continues_elsewhere(struct gt_track_thread *t, const struct gt_code *from,
                                const struct gt_code *code, uint64_t sp, uint64_t time)
{
    struct gt_stack *s = t->stack;
    uint64_t left = t->nonlocal.left_sp;
    uint32_t frame = find_return(s, gt_stack_depth(s), code->pc);
    unsigned candidates;
    bool several;
    if (sp <= left && left - sp <= NEAR)
        return false;
    if (frame) {
        t->counters[GT_ANOMALY_GUESSED_STACK] +=
            gt_stack_find_suspended(t, code->pc, &several) != NULL;
        note_copied(s, sp);
        if (from && frame == gt_stack_depth(s))
            gt_track_return_resolve(t, from, code, time);
        else
            gt_track_return_resume(t, s, frame - 1, time);
        return true;
    }
    if (gt_stack_find_suspended(t, code->pc, &several) ||
        (!code->entry && gt_stack_find_function(s, code, &candidates)))
        return false;
    return begin(t, code, sp, time);
}

/* An exception has ended where it has left frames. */
static void leave_frames(struct gt_track_thread *t, uint32_t depth, uint64_t time)
{
    if (depth >= gt_stack_depth(t->stack))
        return;
    gt_track_return_resume(t, t->stack, depth, time);
    gt_track_unwind_end(t);
}

/* True where the only frame that is left is one whose place in memory is not known, and the code is
 * not its own. */
static bool is_above_all(const struct gt_stack *s, uint32_t remain, const struct gt_code *code)
{
    return remain == 0 ||
           (remain < gt_stack_depth(s) && remain == 1 && s->base[1].kind == GT_FRAME_ROOT &&
            !gt_track_frame_owns(&s->base[1], code));
}

/* A function is jumped to whose return address, as far as memory has it, is the top frame's. */
static bool is_tail_call(struct gt_track_thread *t, const struct gt_code *from,
                         const struct gt_code *code, uint64_t sp)
{
    struct gt_stack_words w = {
        .t = t, .at = sp, .end = sp + (t->tracker->view ? t->tracker->view->word : 0)};
    return !from && code->entry && t->tracker->view && t->tracker->view->by_memory &&
           gt_stack_words_find(&w, gt_track_tail_called(t->stack)->ret);
}

/* Control may have come back to where `remain` frames are open: by a return; by an exception. */
static bool returns_to(const struct gt_stack *s, uint32_t remain, const struct gt_code *code)
{
    return remain < gt_stack_depth(s) && s->base[remain + 1].ret == code->pc;
}

static bool lands_in(const struct gt_stack *s, uint32_t remain, const struct gt_code *code)
{
    return remain > 0 && !code->entry && gt_track_frame_owns(&s->base[remain], code);
}

/* Memory does not say which frames remain: the innermost that returns there may not be the one. */
static bool guess_return(struct gt_track_thread *t, const struct gt_code *code, uint32_t *remain)
{
    uint32_t frame = gt_stack_find_return(t->stack, code->pc);
    t->counters[GT_ANOMALY_GUESSED_FRAME] += frame > 0;
    if (frame)
        *remain = frame - 1;
    return frame > 0;
}

static bool continues_own(struct gt_track_thread *t, const struct home *home,
                          const struct gt_code *from, const struct gt_code *code, uint64_t sp,
                          uint64_t time)
{
    struct gt_stack *s = t->stack;
    s->n_excursions = home->part;
    leave_frames(t, home->depth, time);
    uint32_t depth = gt_stack_depth(s), remain;
    bool one = find_frames(t, home->sp, sp, &remain);
    uint32_t called = (uint32_t)(gt_track_tail_called(s) - s->base);
    bool recursive = called > 1 && s->base[called - 1].ret == code->pc;
    if (called && s->base[called].ret == code->pc &&
        (remain + 1 >= called || !recursive ||
         gt_stack_memory_has_frames(t, s, sp, GT_STACK_LONGEST, called - 1))) {
        gt_track_return_resolve(t, from, code, time);
        return true;
    }
    bool begins = !from && code->entry && remain == depth && sp - home->sp > NEAR;
    if (is_tail_call(t, from, code, sp))
        remain = depth;
    else if (!one || begins)
        return continues_elsewhere(t, from, code, sp, time);
    if (is_above_all(s, remain, code))
        return continues_elsewhere(t, from, code, sp, time);
    uint32_t fits = remain; /* memory may hold old return addresses */
    while (fits < depth && !returns_to(s, fits, code) && !lands_in(s, fits, code))
        fits++;
    if (returns_to(s, fits, code) || lands_in(s, fits, code))
        remain = fits;
    bool returns = returns_to(s, remain, code), lands = lands_in(s, remain, code);
    if (!returns && !lands && from)
        returns =
            gt_stack_memory_find_frames(t, code, true, &remain) || guess_return(t, code, &remain);
    if (!returns && !lands && !code->entry && remain == depth)
        return false;
    if (!returns && !lands && !code->entry && from)
        t->counters[GT_ANOMALY_UNKNOWN_RETURN]++;
    leave_frames(t, remain, time);
    if (code->entry && !returns && t->tracker->tail_calls)
        gt_stack_tail_call(t, code, time);
    return true;
}

/* The word decides, but where another stack, which no word is known of, was
 * left just there. The stack may have been moved since. False: it does not
 * continue at the code. */
static bool continues_by_word(struct gt_track_thread *t, const struct gt_code *from,
                              const struct gt_code *code, uint64_t sp, uint64_t time)
{
    struct gt_stack *s = find_by_word(t);
    struct home home = find_home(t, sp);
    bool other = home.stack && home.stack != s && home.stack != t->stack;
    if (!s || (other && !home.stack->word && sp - home.sp <= NEAR))
        return false;
    uint64_t moved = home.stack == s || s->sp == GT_NO_ADDR ? 0 : sp - s->sp;
    home = (struct home){s, gt_stack_depth(s), s->n_excursions, s->sp};
    if (!continues_other(t, &home, from, code, sp, time)) {
        if (code->entry)
            end_stack(t->tracker, s); /* the word is another one's now */
        return false;
    }
    if (t->stack == s && s->begin_sp)
        s->begin_sp += moved;
    return true;
}

/* Its memory is another one's now. */
static void leave_memory(const struct gt_track_thread *t, struct gt_stack *s)
{
    struct gt_track *k = t->tracker;
    bool moved = s->word && s->word != t->nonlocal.word;
    if (!moved) {
        end_stack(k, s);
        return;
    }
    pthread_mutex_lock(&k->lock);
    if (!s->thread)
        s->sp = GT_NO_ADDR;
    pthread_mutex_unlock(&k->lock);
}

bool gt_track_switch_decide(struct gt_track_thread *t, const struct gt_code *from,
                            const struct gt_code *code, uint64_t time)
{
    uint64_t sp = gt_stack_pointer_now(t);
    if (!sp || !t->nonlocal.left_sp)
        return false;
    if (continues_by_word(t, from, code, sp, time))
        return true;
    for (;;) {
        struct home home = find_home(t, sp);
        if (!home.stack)
            return continues_elsewhere(t, from, code, sp, time);
        if (home.stack == t->stack)
            return continues_own(t, &home, from, code, sp, time);
        if (continues_other(t, &home, from, code, sp, time))
            return true;
        if (home.part && home.part == home.stack->n_excursions)
            leave_excursion(t->tracker, home.stack);
        else if (home.stack->begin_sp)
            leave_memory(t, home.stack);
        else
            return ((!from && code->entry) || (t->stack->begin_sp && returns_to_own(t, code))) &&
                   continues_elsewhere(t, from, code, sp, time);
    }
}

/* The part of another stack that is nearer than the one that was left; its
 * stack is NULL: none. */
static struct home find_other_home(struct gt_track_thread *t, uint64_t sp)
{
    uint64_t left = t->nonlocal.left_sp;
    struct home home = find_home(t, sp);
    bool own = home.stack == t->stack || (sp < left && left - sp <= sp - home.sp);
    return own ? (struct home){0} : home;
}

/* True where the stack pointer, which is not back among the stack's frames, has left its memory. */
static bool is_other_memory(struct gt_track_thread *t, uint64_t sp)
{
    uint64_t left = t->nonlocal.left_sp;
    if ((sp >= left ? sp - left : left - sp) > FAR || is_beyond(t->stack, sp))
        return true;
    return find_other_home(t, sp).stack;
}

/* True where the code may be of the frame's function: code without symbols may
 * have entered it by a jump from elsewhere. */
static bool may_own(const struct gt_track_frame *f, const struct gt_code *code)
{
    return gt_track_frame_owns(f, code) ||
           (f->fn->flags & code->fn->flags & GT_FUNC_ANON && f->ret != GT_NO_ADDR);
}

/* One of the frames below the top may be that of the code. */
static bool may_own_outer(const struct gt_stack *s, const struct gt_code *code)
{
    const struct gt_track_frame *f = s->top;
    while (f > s->base && !may_own(--f, code))
        ;
    return f > s->base;
}

/* As it was right after it was loaded, as far as is known. */
static uint64_t loaded_sp(const struct gt_track_thread *t)
{
    return t->nonlocal.new_sp ? t->nonlocal.new_sp : gt_stack_pointer_now(t);
}

/* Frames of its own stack that the stack pointer, since it was loaded, is above
 * of are left, all but *remain. False: none is, or it is not known. */
static bool is_above_frames(struct gt_track_thread *t, const struct gt_code *from, uint64_t sp,
                            uint32_t *remain)
{
    uint64_t left = t->nonlocal.left_sp;
    bool found = left ? sp >= left && find_frames(t, left, sp, remain)
                      : may_own_outer(t->stack, from) &&
                            gt_stack_memory_count_frames(t, t->stack, sp, GT_STACK_LONGEST, remain);
    return found && *remain > 0 && *remain < gt_stack_depth(t->stack);
}

/* The same, and the code, which calls, may be of the innermost one that
 * remains. */
static bool has_left_frames(struct gt_track_thread *t, const struct gt_code *from, uint32_t *remain)
{
    uint64_t sp = loaded_sp(t);
    if (!sp || !is_above_frames(t, from, sp, remain))
        return false;
    const struct gt_track_frame *f = &t->stack->base[*remain];
    const bool owns = gt_track_frame_owns(f, from);
    return (owns || may_own(f, from)) && !gt_stack_memory_has_all_frames(t, sp) &&
           (owns || gt_stack_memory_has_frames(t, t->stack, sp, GT_STACK_LONGEST, *remain));
}

/* The call is made on the stack of another context, which is suspended: a
 * scheduler's. Calls there before that have not returned are gone. */
static bool calls_on_other(struct gt_track_thread *t, uint64_t time)
{
    uint64_t sp = loaded_sp(t);
    struct gt_stack *s = find_by_word(t);
    struct home home = s ? (struct home){s, 0, s->n_excursions, sp} : find_other_home(t, sp);
    uint32_t remain;
    s = home.stack;
    if (!s || home.part != s->n_excursions || sp < home.sp ||
        !gt_stack_memory_count_frames(t, s, sp, FAR, &remain) || remain == 0 ||
        !gt_stack_memory_has_return(t, sp, FAR, s->base[remain].ret))
        return false;
    gt_track_return_resume(t, s, remain, time);
    return true;
}

bool gt_track_switch_before_call(struct gt_track_thread *t, const struct gt_code *from,
                                 uint64_t time)
{
    struct gt_stack *s = t->stack;
    uint64_t sp = gt_stack_pointer_now(t), left = t->nonlocal.left_sp;
    uint32_t remain;
    drop_excursions(s);
    if (has_left_frames(t, from, &remain)) {
        leave_frames(t, remain, time);
        return false;
    }
    if (!sp || !left)
        return false;
    if (calls_on_other(t, time))
        return true;
    unsigned n = s->n_excursions;
    if (n && s->excursions[n - 1].depth == gt_stack_depth(s))
        return false; /* back, or on to another one */
    if (!is_other_memory(t, sp))
        return false;
    if (n == GT_TRACK_EXCURSIONS)
        memmove(s->excursions, s->excursions + 1, --n * sizeof s->excursions[0]);
    s->excursions[n] = (struct gt_track_excursion){gt_stack_depth(s), left};
    s->n_excursions = n + 1;
    return false;
}
