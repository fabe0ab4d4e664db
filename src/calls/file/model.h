/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Internal to compact/: what packer and unpacker predict the next record by, the same on both
 * sides.
 *
 * Each open function of a task has a context: a number of GT_MODEL_BITS bits that stands for the
 * function, how it was come to, and what it has called last. For each context the table has the two
 * records that followed it last, newest first.
 */
#ifndef GT_CALLS_FILE_MODEL_H
#define GT_CALLS_FILE_MODEL_H

#include "calls/file/compact.h"
#include "recording/directory/uftrace.h"

enum {
    GT_MODEL_BITS = 16,
    GT_MODEL_SIZE = 1 << GT_MODEL_BITS,
    GT_MODEL_ROOM = 32, /* functions that a new task has room for */
};

/* What the table did not predict, of an exact recording; else of what happened only. */
enum gt_compact_miss {
    GT_MISS_SECOND = 0, /* it is the second prediction */
    GT_MISS_TIME,       /* it is the first, after another time */
    GT_MISS_SECOND_TIME,
    GT_MISS_BOTH, /* neither prediction says it */
    GT_MISS_MASK = 3,
    GT_MISS_FAR = 4, /* the step in time does not fit in 32 bits, or goes back: it is in FAR */
};

/* What follows a context. */
struct gt_compact_prediction {
    uint32_t sym, step;
};

/* An open function. */
struct gt_compact_model_frame {
    uint32_t number;  /* of the function */
    uint32_t context; /* an index of the table */
    uint32_t last;    /* what it has called last */
    uint32_t earlier; /* and before that, mixed */
    uint64_t begin;   /* when it was entered */
};

/* The three make the context of a function that goes on. */
static inline uint32_t gt_compact_model_mix(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t x = a * 0x9e3779b97f4a7c15u ^ b * 0xc2b2ae3d27d4eb4fu ^ c * 0x165667b19e3779f9u;
    return (uint32_t)((x ^ x >> 29) * 0xbf58476d1ce4e5b9u >> (64 - GT_MODEL_BITS));
}

/* A function is entered from the one at `top`. */
static inline void gt_compact_model_enter(struct gt_compact_model_frame *top, uint32_t number,
                                          uint64_t time)
{
    top[1] = (struct gt_compact_model_frame){
        .number = number, .context = gt_compact_model_mix(number, top->context, 0), .begin = time};
}

/* Something has happened in the function at `top`: what it called was left, or an event. */
static inline void gt_compact_model_note(struct gt_compact_model_frame *top, uint32_t what)
{
    top->earlier = top->earlier << 7 ^ top->last;
    top->last = what;
    top->context = gt_compact_model_mix(top->number, what, top->earlier);
}

/* The words of a symbol: an entry and an exit have the same. */
static inline unsigned gt_compact_word_class(uint32_t sym)
{
    unsigned kind = sym & 3;
    return kind == GT_COMPACT_EXIT ? GT_COMPACT_ENTRY : kind;
}

static inline uint64_t gt_compact_zigzag(int64_t v)
{
    return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

static inline int64_t gt_compact_unzigzag(uint64_t v)
{
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

#endif
