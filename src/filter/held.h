/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to filter/: frames of open calls, and which of their entries are written when. */
#ifndef GT_FILTER_HELD_H
#define GT_FILTER_HELD_H

#include "filter/rule.h"
#include "filter/state.h"

/* gt_filter_frame.bits */
enum frame_bit {
    INSIDE = 1,    /* -F: it or a caller */
    OUTSIDE = 2,   /* -N: it or a caller */
    INHERITED = 3, /* by callees */
    TAKEN = 4,     /* it is recorded, if it takes long enough */
    WRITTEN = 8,   /* its entry is in the recording */
    CALLER = 16,   /* -C: its callers are recorded */
    ALWAYS = 32,   /* however short */
    SMALL = 64,    /* too small */
    PASSES = 128,  /* -F, -N, -L */
    SLEPT = 256,   /* suspensions in it are held back with it: `slept_at`, `slept` */
};

static inline bool gt_filter_held_is_on(const struct gt_filter_state *s)
{
    return s->switched & 1;
}

/* True: a call that ended at this time would be recorded, and its callers. */
static inline bool gt_filter_held_suffices(const struct gt_filter_state *s,
                                           const struct gt_filter_frame *f, uint64_t time)
{
    if (f->bits & (SMALL | ALWAYS))
        return !(f->bits & SMALL);
    return time - f->begin >= f->time && (!s->set->callers || f->bits & CALLER);
}

/* Writes the entries that are held back, up to that of the frame. */
void gt_filter_held_write_to(struct gt_filter_state *s, uint32_t last);
/* Writes what need not be held back any longer: entries of calls that have lasted long enough. */
void gt_filter_held_write_due(struct gt_filter_state *s, uint64_t time);
/* A suspension of that length, in the innermost frame or those up to i: it is written, or held back
 * with a call. */
void gt_filter_held_sleep(struct gt_filter_state *s, uint32_t i, uint64_t at, uint64_t length);
/* The frame is not written: what it slept is its callers'. */
static inline void gt_filter_held_hand_down(struct gt_filter_state *s, uint32_t i)
{
    if (s->frame[i].bits & SLEPT)
        gt_filter_held_sleep(s, i - 1, s->frame[i].slept_at, s->frame[i].slept);
    s->frame[i].bits &= ~(uint32_t)SLEPT;
}
/* Recording is off from now on: to its reader all open calls end here. */
void gt_filter_held_switch_off(struct gt_filter_state *s, uint64_t time);
/* It is on from now on, and the open calls begin. */
void gt_filter_held_switch_on(struct gt_filter_state *s, uint64_t time);

void gt_filter_held_switch(struct gt_filter_state *s, uint32_t now, uint64_t time);
/* Takes notice of live->switched. */
static inline void gt_filter_held_notice_switch(struct gt_filter_state *s, uint64_t time)
{
    uint32_t now = __atomic_load_n(&s->live->switched, __ATOMIC_RELAXED);
    if (now != s->switched)
        gt_filter_held_switch(s, now, time);
}

#endif
