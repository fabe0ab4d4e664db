/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames that a program has in its memory: see stack_memory.h. */
#include "track/stack_memory.h"
#include "track/stack.h"
#include "track/tail_calls.h"

#include <string.h>

enum {
    MOST_TRIES = 64,  /* frames of one function; each is a scan */
    NEVER_RETURN = 2, /* outermost frames, which may leave their return address in its register */
    /* Bytes that are read: most frames lie near; only where a search fails it is long. */
    A_TRANSFER = 16 << 10,
    A_CALL = 4 << 10,
    A_THREAD = 256 << 20,
};

void gt_stack_memory_begin_search(struct gt_track_thread *t)
{
    t->search.near = A_TRANSFER;
    t->search.given_up = false;
}

bool gt_stack_memory_end_search(struct gt_track_thread *t)
{
    bool given_up = t->search.given_up;
    t->search.given_up = false;
    return given_up;
}

/* A heap that can be read all through has no end near a stack that lies in it: searches there would
 * take longer than the program. */
static bool may_read(struct gt_track_search *s, uint64_t calls, uint64_t n)
{
    if (s->near >= n) {
        s->near -= n;
        return true;
    }
    if (s->read + n > A_THREAD + A_CALL * calls) {
        s->given_up = true;
        return false;
    }
    s->read += n;
    return true;
}

uint64_t gt_stack_pointer_read(const struct gt_track_thread *t)
{
    const struct gt_track *k = t->tracker;
    return k->view && k->view->stack_pointer ? k->view->stack_pointer(k->sink_self) : 0;
}

uint64_t gt_stack_pointer_now(const struct gt_track_thread *t)
{
    uint64_t sp = gt_stack_pointer_read(t);
    return sp ? sp : t->nonlocal.new_sp;
}

static bool fill(struct gt_stack_words *w)
{
    const struct gt_track *k = w->t->tracker;
    uint64_t n = sizeof w->buffer - w->at % sizeof w->buffer; /* up to a page's end */
    if (!may_read(&w->t->search, w->t->calls, n))
        return false;
    w->first = w->at;
    w->after = w->at + n;
    return k->view->read(k->sink_self, w->first, w->buffer, n);
}

/* Pointer authentication signs the upper bits of return addresses. */
static bool same_address(uint64_t a, uint64_t b)
{
    return ((a ^ b) & ((UINT64_C(1) << 48) - 1)) == 0;
}

bool gt_stack_words_find(struct gt_stack_words *w, uint64_t value)
{
    uint64_t began = w->at;
    size_t size = w->t->tracker->view->word;
    for (; w->at + size <= w->end; w->at += size) {
        uint64_t word = 0;
        if ((w->at < w->first || w->at >= w->after) && !fill(w)) {
            w->ends = true;
            break;
        }
        memcpy(&word, w->buffer + (w->at - w->first), size);
        if (same_address(word, value)) {
            w->at += size;
            return true;
        }
    }
    w->at = began;
    return false;
}

static struct gt_stack_words words_from(struct gt_track_thread *t, uint64_t sp)
{
    return (struct gt_stack_words){.t = t, .at = sp - sp % t->tracker->view->word};
}

static bool find_within(struct gt_stack_words *w, uint64_t bytes, uint64_t value)
{
    uint64_t last = UINT64_MAX - w->t->tracker->view->word;
    w->end = w->at < last - bytes ? w->at + bytes : last;
    return gt_stack_words_find(w, value);
}

bool gt_stack_memory_has_frames(struct gt_track_thread *t, const struct gt_stack *s, uint64_t sp,
                                uint64_t apart, uint32_t n)
{
    uint32_t floor = s->n_excursions ? s->excursions[s->n_excursions - 1].depth : 0;
    struct gt_stack_words w = words_from(t, sp);
    for (uint32_t i = n; i > floor && s->base[i].kind != GT_FRAME_SIGNAL; i--) {
        const struct gt_track_frame *f = &s->base[i];
        if (f->kind == GT_FRAME_TAIL || f->ret == GT_NO_ADDR || find_within(&w, apart, f->ret))
            continue;
        if (t->tracker->view->by_memory || i > NEVER_RETURN)
            return false;
    }
    return true;
}

bool gt_stack_memory_has_all_frames(struct gt_track_thread *t, uint64_t sp)
{
    const struct gt_track_program_view *view = t->tracker->view;
    return view && view->read && sp && t->stack->top > t->stack->base &&
           gt_stack_memory_has_frames(t, t->stack, sp, GT_STACK_LONGEST, gt_stack_depth(t->stack));
}

bool gt_stack_memory_has_return(struct gt_track_thread *t, uint64_t sp, uint64_t apart,
                                uint64_t ret)
{
    struct gt_stack_words w = words_from(t, sp);
    return ret != GT_NO_ADDR && find_within(&w, apart, ret);
}

bool gt_stack_memory_count_frames(struct gt_track_thread *t, const struct gt_stack *s, uint64_t sp,
                                  uint64_t apart, uint32_t *n)
{
    const struct gt_track_program_view *view = t->tracker->view;
    uint32_t low = 0, high = gt_stack_depth(s);
    if (!view || !view->read)
        return false;
    if (gt_stack_memory_has_frames(t, s, sp, apart, high))
        low = high;
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        if (gt_stack_memory_has_frames(t, s, sp, apart, middle))
            low = middle;
        else
            high = middle;
    }
    *n = low;
    return true;
}

bool gt_stack_memory_find_frames(struct gt_track_thread *t, const struct gt_code *code,
                                 bool returns, uint32_t *remain)
{
    const struct gt_stack *s = t->stack;
    const struct gt_track_program_view *view = t->tracker->view;
    uint64_t sp = view && view->read ? gt_stack_pointer_now(t) : 0;
    unsigned candidates, tries = 0;
    uint32_t found = returns ? 0 : gt_stack_find_function(s, code, &candidates);
    if (!sp || (!returns && !found))
        return false;
    for (uint32_t i = gt_stack_depth(s); i > 0 && tries < MOST_TRIES; i--) {
        const struct gt_track_frame *f = &s->base[i];
        if (returns ? f->ret != code->pc
                    : f->fn != s->base[found].fn || f->addr != s->base[found].addr ||
                          gt_track_tail_has_jumped(s, f))
            continue;
        tries++;
        if (gt_stack_memory_has_frames(t, t->stack, sp, GT_STACK_LONGEST, returns ? i - 1 : i)) {
            *remain = returns ? i - 1 : i;
            return true;
        }
    }
    return false;
}
