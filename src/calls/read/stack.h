/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One task's records as calls: the stack of open calls, and what a window shows of them.
 *
 * A stack begins with what its task had open before a stretch of records, takes the records in
 * order, and ends with the stretch or with the recording. It makes struct gt_call from them. Every
 * frame is on the stack; shown are those whose ENTRY has been made, always the outermost ones:
 * calls deeper than the window's depth never are, calls shorter than its min_time neither, so an
 * ENTRY is made when its call has lasted that long. Time of calls that are not shown is their
 * caller's own.
 *
 * Time spent: `child` of a frame is the time since its begin that was not spent in itself. A frame
 * carried into a stretch begins with all time before the stretch as such. The time in which the
 * task was suspended is counted since the stretch began, and was that much when a frame began.
 */
#ifndef GT_CALLS_READ_STACK_H
#define GT_CALLS_READ_STACK_H

#include "calls/file/compact.h"
#include "calls/read/call_values.h"
#include "calls/read/calls.h"

enum {
    GT_STACK_MAX = 1 << 20, /* open calls; deeper ones are counted only */
    GT_STACK_SEEN = 256,    /* see gt_calls_stack.seen: a power of two */
    GT_STACK_BATCH = 1024,  /* calls that are given at once */
    GT_STACK_HELD = 1024,   /* events that wait for an ENTRY */
};

struct gt_calls_stack;

/* Takes what stacks make. */
struct gt_calls_out {
    struct gt_call call[GT_STACK_BATCH];
    size_t n;
    const struct gt_value_list *values; /* of the last one; NULL: it has none */
    /* Takes `call`, of one stack; below 0 is kept in `status`. */
    int (*take)(void *self, struct gt_calls_stack *s, const struct gt_calls_out *out);
    void *self;
    int status;
};

/* What a pass shows: struct gt_calls_window with its zeros resolved. */
struct gt_calls_rules {
    uint64_t from, to, min_time;
    uint32_t depth;
    bool plain;          /* no depth, no min_time */
    bool wall;           /* time in which the task was suspended is as any other */
    uint32_t lost_event; /* the event that marks lost records; 0: none */
    uint32_t n_vcpus;    /* that events name */
};

struct gt_calls_held {
    uint64_t time;
    uint32_t function, depth;
    uint8_t kind;
};

/* Of a frame: time that is not its own, and the stack's `slept` at its begin. */
struct gt_calls_spent {
    uint64_t child, slept;
};

struct gt_calls_stack {
    uint32_t task;
    uint32_t n, room;            /* frames */
    struct gt_call_frame *frame; /* outermost first */
    struct gt_calls_spent *spent;
    uint64_t slept;   /* in suspensions that have ended in this stretch; 0: `wall` */
    uint32_t shown;   /* frames whose ENTRY was made */
    uint32_t part;    /* frames whose ENTRY was made in another stretch */
    uint32_t clipped; /* frames that began before the window */
    uint64_t *before; /* how long before, of each of them */
    uint32_t base;    /* what records' depths are more than the frames': a forked child's */
    uint64_t over;    /* calls deeper than GT_STACK_MAX */
    uint64_t last;    /* time of the last record */
    bool suspended;   /* the innermost frame is GT_CALLS_SCHEDULE, which records do not count */
    bool wall;        /* as the rules have it */
    bool forked;      /* its process is a fork's child: it returns from its parent's calls */
    bool started;     /* the window has begun */
    bool ended;       /* it has ended */
    bool unsure;  /* the next record need not fit: records were lost, or the program is another */
    uint64_t odd; /* records that fit nowhere */
    struct gt_calls_held *held;
    size_t n_held;
    struct gt_call_values values; /* of frames that wait for their ENTRY */
    uint32_t seen[GT_STACK_SEEN]; /* open calls by low bits of the function */
};

/* Nothing is open. */
void gt_calls_stack_init(struct gt_calls_stack *s, uint32_t task);
void gt_calls_stack_finish(struct gt_calls_stack *s);

/* The task's stretch begins: its open calls, outermost first, and the time of the record before.
 * `shown`: calls that were shown before this stretch are not shown again. False: no memory. */
bool gt_calls_stack_begin(struct gt_calls_stack *s, const struct gt_calls_rules *r,
                          const struct gt_call_frame *frame, size_t n, uint64_t time, bool shown);
/* Records are missing; before the next one, at `time`, these are open: leaves and enters calls
 * until they are. False: no memory. */
bool gt_calls_stack_align(struct gt_calls_stack *s, const struct gt_calls_rules *r,
                          struct gt_calls_out *out, const struct gt_call_frame *frame, size_t n,
                          uint64_t time);
/* The window begins: shows the open calls. */
void gt_calls_stack_start(struct gt_calls_stack *s, const struct gt_calls_rules *r,
                          struct gt_calls_out *out);
/* The task has no record before that time that has not come: shows calls that have lasted long
 * enough. */
void gt_calls_stack_pass(struct gt_calls_stack *s, const struct gt_calls_rules *r,
                         struct gt_calls_out *out, uint64_t time);
/* The stretch ends. */
void gt_calls_stack_split(struct gt_calls_stack *s, const struct gt_calls_rules *r,
                          struct gt_calls_out *out);
/* The time since frame k began, in this stretch, in which the task was suspended, up to `until`. */
uint64_t gt_calls_stack_slept(const struct gt_calls_stack *s, uint32_t k, uint64_t until);
/* How a task ends. */
struct gt_calls_end {
    uint64_t time;  /* of the last exits */
    uint64_t until; /* calls that are open go on until then: at least `time` */
    uint8_t flags;  /* of the last exits */
};
/* No record comes any more: shows calls that are long enough, and forgets the others. */
void gt_calls_stack_settle(struct gt_calls_stack *s, const struct gt_calls_rules *r,
                           struct gt_calls_out *out, const struct gt_calls_end *end);
/* The task ends: leaves all calls. */
void gt_calls_stack_end(struct gt_calls_stack *s, const struct gt_calls_rules *r,
                        struct gt_calls_out *out, const struct gt_calls_end *end);

/* The task is suspended in `function`; UINT32_MAX: it goes on. GT_E_NOMEM. */
int gt_calls_stack_switch(struct gt_calls_stack *s, const struct gt_calls_rules *r,
                          struct gt_calls_out *out, uint64_t time, uint32_t function);

/* What records' numbers are. */
struct gt_calls_words {
    const uint32_t *function; /* by number: index, or UINT32_MAX: not known yet */
    void *self;
    uint64_t (*word)(const void *self, uint32_t number);
    /* Makes function[number] known; 0, or GT_E_NOMEM. */
    int (*resolve)(void *self, uint32_t number, uint64_t address);
};

/* Takes records, in order; `depth` of each counts modulo 1024. The calls are in `out`, which is
 * flushed before another stack's are made. out->status, or GT_E_NOMEM;
 * GT_E_UNSUPPORTED: a record with values. */
int gt_calls_stack_take(struct gt_calls_stack *s, const struct gt_calls_rules *r,
                        const struct gt_calls_words *words, struct gt_calls_out *out,
                        const struct gt_compact_event *event, size_t n);
/* The same with one record that has values. */
int gt_calls_stack_take_valued(struct gt_calls_stack *s, const struct gt_calls_rules *r,
                               const struct gt_calls_words *words, struct gt_calls_out *out,
                               const struct gt_compact_event *event,
                               const struct gt_value_list *values);

/* Gives the contents of `out`; returns out->status. */
int gt_calls_out_flush(struct gt_calls_out *out, struct gt_calls_stack *s);

#endif
