/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One task's calls and returns, and what of them is recorded. A recorder feeds it what its tracker
 * sees, a reader what a recording has: the same set and the same calls give the same records.
 *
 * Every call and return of the task is reported, recorded or not, so that recorded calls have their
 * true depth and callers. Records come in order of time: a call that may still turn out too short
 * (-t) or without a caller's filter below it (-C) is held back until it is known; then its entry is
 * written with the time when it began, after its callers' entries. Held back are open calls only,
 * so that the memory is bounded by the depth.
 *
 * Where recording is switched off (trace-off), the calls that are open in the recording are closed;
 * where it is switched on again, the calls that are open then are entered again. So a recording has
 * an exit for every entry, whatever happens. The switch is one for all tasks (struct
 * gt_filter_live); each takes notice of it at its own next call, or if it is off at its next
 * return.
 *
 * Nothing allocates except a call that is deeper than any before: there the memory doubles.
 */
#ifndef GT_FILTER_STATE_H
#define GT_FILTER_STATE_H

#include "filter/filter.h"
#include "filter/rule.h"

/* What all tasks of a recording, or of one pass over it, have in common. In memory that forked
 * children share. */
struct gt_filter_live {
    uint32_t switched; /* how often recording was switched; odd: it is on. Atomic */
    bool finished;     /* it stays off. Atomic */
    size_t n;
    uint64_t count[][2]; /* of each rule: how often it was met, and how often it fired. Atomic */
};

/* NULL: no memory. */
struct gt_filter_live *gt_filter_live_new(const struct gt_filter_set *set);
void gt_filter_live_free(struct gt_filter_live *live); /* NULL is fine */
/* Switches recording; off for good. Thread-safe. */
void gt_filter_live_switch(struct gt_filter_live *live, bool on);
void gt_filter_live_finish(struct gt_filter_live *live);
static inline bool gt_filter_live_is_on(const struct gt_filter_live *live)
{
    return __atomic_load_n(&live->switched, __ATOMIC_RELAXED) & 1;
}

/* A trigger that fired. */
struct gt_filter_act {
    const struct gt_filter_action *action;
    const char *trigger; /* as the user wrote it */
    uint32_t depth;      /* of the call; 0 where no call is the cause */
    uint64_t time;       /* now */
    uint64_t took;       /* at a return */
};

struct gt_filter_frame;

/* What a state's user does. `self` is that of gt_filter_state_init; `shown` counts from 0 the open
 * calls that are recorded. */
struct gt_filter_sink {
    void (*enter)(void *self, const struct gt_filter_frame *f, uint32_t shown, uint64_t time);
    void (*leave)(void *self, const struct gt_filter_frame *f, uint32_t shown, uint64_t time);
    /* Recording was switched off, or other filters come: the calls that are open in the recording
     * end, by `leave`, without having returned. NULL: nothing. */
    void (*ends)(void *self, uint32_t shown, uint64_t time);
    /* The task is suspended in the innermost call that is recorded, or in calls of it that are not;
     * it resumes. Where several suspensions were held back with a call: once, from the first one
     * on, as long as all. */
    void (*suspended)(void *self, uint32_t shown, uint64_t time);
    void (*resumed)(void *self, uint32_t shown, uint64_t time);
    /* After the record of the call. trace-on and trace-off are not among them. NULL: nothing. */
    void (*act)(void *self, const struct gt_filter_act *a);
    /* Sets *out to a value of the call of that depth, which is being entered or left. False: it is
     * not known. NULL: none is. */
    bool (*value)(void *self, uint32_t depth, const struct gt_base_call_value_name *name,
                  struct gt_base_call_value *out);
};

/* An open call. Calls that are left out, and change nothing for their callees, have none. */
struct gt_filter_frame {
    uint64_t begin;
    uint64_t call; /* as it was given */
    uint64_t time; /* that it and its callees must take */
    const struct gt_filter_verdict *verdict;
    uint32_t left;    /* how much deeper calls are recorded */
    uint32_t size;    /* that it and its callees must have */
    uint32_t bits;    /* state.c */
    uint32_t fired;   /* triggers that act at its return */
    uint32_t depth;   /* of the call: all calls that are open below it */
    uint32_t skipped; /* of those, the ones between it and the frame below that have no frame */
    uint64_t slept_at, slept; /* suspensions that are held back: when the first began; their sum */
};

struct gt_filter_state {
    const struct gt_filter_set *set;
    struct gt_filter_live *live;
    const struct gt_filter_sink *sink;
    void *self;
    struct gt_filter_frame *frame; /* [0] is below the outermost call */
    size_t room;
    uint32_t n;        /* the innermost frame */
    uint32_t depth;    /* open calls */
    uint32_t skipped;  /* those above the innermost frame */
    bool skips;        /* a call of a function without a verdict is skipped */
    uint32_t beyond;   /* those above them for which there was no memory */
    uint32_t held;     /* frames from here on may be held back */
    uint32_t shown;    /* calls that are open in the recording */
    uint32_t switched; /* live->switched, as far as it was noticed */
    uint64_t on_since;
    uint64_t scopes; /* those that hold */
    uint64_t suspended_at;
    bool suspended; /* the task is, and the recording has it */
    bool asleep;    /* the task is suspended, and that is held back */
    bool selected;
    bool chosen; /* the user's: a --where has found the call that is entered next */
};

enum gt_filter_call_flag {
    GT_FILTER_HANDLER = 1, /* an interrupt or exception began it */
};

/* All that is given must outlive the state. GT_E_NOMEM. */
int gt_filter_state_init(struct gt_filter_state *s, const struct gt_filter_set *set,
                         struct gt_filter_live *live, const struct gt_filter_sink *sink,
                         void *self);
void gt_filter_state_finish(struct gt_filter_state *s);
/* No call is open any more, none is recorded: of a forked child, whose calls are entered again. */
void gt_filter_state_reset(struct gt_filter_state *s);

/* Who runs, as gt_filter_state_task and gt_filter_state_cpu take it. */
struct gt_filter_who {
    const char *name;
    uint64_t id, pid, cpu;
};

/* An open call, to another set. */
struct gt_filter_open {
    const struct gt_filter_verdict *verdict;
    uint64_t call;
    unsigned flags;
};

/* Another set decides from now on, also about the calls that are open: those that the old one has
 * recorded end here, those that the new one records begin here. Their triggers do nothing. How long
 * a call has taken that had no frame counts from here. `open` is asked for each open call, from the
 * outermost (depth 0) on. GT_E_NOMEM: the old
 * set goes on. */
int gt_filter_state_replace(struct gt_filter_state *s, const struct gt_filter_set *set,
                            struct gt_filter_live *live, const struct gt_filter_who *who,
                            void (*open)(void *self, uint32_t depth, struct gt_filter_open *out),
                            uint64_t time);

/* Who runs: a task's name (may be NULL), number and process; the vCPU. They count from the next
 * call on. */
void gt_filter_state_task(struct gt_filter_state *s, const char *name, uint64_t id, uint64_t pid);
void gt_filter_state_cpu(struct gt_filter_state *s, uint64_t cpu);

/* The same as gt_filter_enter and gt_filter_leave for the calls that cost least: false: nothing was
 * done, the caller calls those. A function without bits in its verdict is not mentioned. */
static inline bool gt_filter_skips_unmentioned(struct gt_filter_state *s)
{
    if (!s->skips || __atomic_load_n(&s->live->switched, __ATOMIC_RELAXED) != s->switched)
        return false;
    s->skipped++;
    s->depth++;
    return true;
}
static inline bool gt_filter_skips(struct gt_filter_state *s, const struct gt_filter_verdict *v)
{
    return !v->bits && gt_filter_skips_unmentioned(s);
}
static inline bool gt_filter_leaves_skipped(struct gt_filter_state *s)
{
    if (!s->skipped || __atomic_load_n(&s->live->switched, __ATOMIC_RELAXED) != s->switched)
        return false;
    s->skipped--;
    s->depth--;
    return true;
}

/* A function is called; `v` must stay until it returns. `call` is the user's own, for the frame.
 * `flags`: enum gt_filter_call_flag. */
void gt_filter_enter(struct gt_filter_state *s, const struct gt_filter_verdict *v, uint64_t call,
                     unsigned flags, uint64_t time);
/* The innermost open call returns, or is left in another way. */
void gt_filter_leave(struct gt_filter_state *s, uint64_t time);
/* True: the open call is in the recording. */
bool gt_filter_is_recorded(const struct gt_filter_frame *f);
/* True: an event (a mark) that happens now belongs into the recording. */
bool gt_filter_takes_event(struct gt_filter_state *s, uint64_t time);
/* The task is suspended, in calls that are recorded or not; it resumes. `sink` gets it, at once or
 * with the call that it is held back with. */
void gt_filter_suspend(struct gt_filter_state *s, uint64_t time);
void gt_filter_resume(struct gt_filter_state *s, uint64_t time);

/* The open calls and a suspension last until then: writes those that take long enough by it. */
void gt_filter_until(struct gt_filter_state *s, uint64_t time);
/* The time of the earliest entry that is held back; UINT64_MAX: none is. */
uint64_t gt_filter_held_since(const struct gt_filter_state *s);

/* Other causes of triggers: something that is said about the guest; its exit status, the signal
 * that ended it (0: which one is not known). `sink` is called from here, with `self`. Thread-safe
 * as far as the sink is. */
enum gt_filter_said {
    GT_FILTER_CONSOLE, /* a line of the console */
    GT_FILTER_QMP,     /* the name of an event of QEMU's machine protocol */
};
void gt_filter_said(const struct gt_filter_set *set, struct gt_filter_live *live,
                    enum gt_filter_said kind, const char *text, uint64_t time,
                    const struct gt_filter_sink *sink, void *self);
/* True: it fits a trigger. */
bool gt_filter_listens(const struct gt_filter_set *set, enum gt_filter_said kind, const char *text);
void gt_filter_ended(const struct gt_filter_set *set, struct gt_filter_live *live, bool by_signal,
                     uint64_t status, uint64_t time, const struct gt_filter_sink *sink, void *self);

#endif
