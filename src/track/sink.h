/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tracker calls: see track.h. */
#ifndef GT_TRACK_SINK_H
#define GT_TRACK_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_stack;
struct gt_track_thread;

/* Receives the call events; `self` is that of gt_track_init. enter and leave are called in order
 * of time for a stack; `depth` is from 0. open sets s->out of a stack that begins (or goes on, in a
 * forked child, or where stacks share outputs); close ends it. */
struct gt_track_sink {
    void (*enter)(void *self, struct gt_stack *s, uint64_t time, uint32_t depth, uint64_t addr);
    void (*leave)(void *self, struct gt_stack *s, uint64_t time, uint32_t depth, uint64_t addr);
    bool (*open)(void *self, struct gt_track_thread *t, struct gt_stack *s, uint64_t time);
    void (*close)(void *self, struct gt_stack *s);
    /* A stack with an output is suspended; it continues, or ends. May be NULL. */
    void (*suspended)(void *self, struct gt_stack *s, uint64_t time);
    void (*resumed)(void *self, struct gt_stack *s, uint64_t time);
    /* The calls that the stack has open end without having returned: their leaves, at that time,
     * are next. May be NULL. */
    void (*ends)(void *self, struct gt_stack *s, uint64_t time);
    /* A handler begins at the address, or goes on by a jump in the function of that entry. May be
     * NULL. */
    void (*handler)(void *self, uint64_t addr);
    /* Code of the level that s->level says runs on the stack from now on: s->out becomes that
     * level's. enter and leave concern the top frame, of any level. NULL: levels are not
     * distinguished. */
    void (*level)(void *self, struct gt_stack *s, uint64_t time);
    size_t data_size; /* bytes that the sink keeps for each stack, in its `data` */
};

#endif
