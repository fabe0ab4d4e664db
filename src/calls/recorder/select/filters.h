/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Filters and triggers of a recording: the set that its arguments name, and what it has to do with
 * each function. With control= there is a set in any case, which may be replaced while the guest
 * runs. What becomes of calls is in
 * filtered.h.
 *
 * Functions are matched when code of theirs is first translated; code without symbols by the
 * address where it is entered, when it is.
 */
#ifndef GT_CALLS_RECORDER_SELECT_FILTERS_H
#define GT_CALLS_RECORDER_SELECT_FILTERS_H

#include "base/error.h"
#include "filter/state.h"
#include "qemu/support/args.h"
#include "qemu/support/pages.h"
#include "track/track.h"

#include <glib.h>
#include <pthread.h>

struct gt_recorder;
struct gt_support_module;

/* One option as it was given. */
struct gt_select_filter_word {
    enum gt_filter_option option;
    const char *name; /* "-F (filter=)" */
    char *value;      /* its own; NULL: it has none */
};

/* An argument that takes a filter. */
struct gt_select_filter_argument {
    GArray *words; /* struct gt_select_filter_word */
    size_t kind;   /* in the table of filters.c */
};

enum {
    GT_FILTER_ARGUMENTS = 16,
    GT_FILTER_RECENT = 4096,
    GT_FILTER_NUMBERS =
        2, /* the first of gt_select_filter_current.number: see gt_select_code_enter */
};

/* A set, and what decides with it. Its memory is used again for another one when no task holds it
 * (sets.c), and never freed. */
struct gt_select_filter_current {
    struct gt_filter_set *set; /* NULL: it is free */
    struct gt_filter_live *live;
    uint64_t id;    /* of the set: no other one of this recording has it; 0: it is free */
    unsigned users; /* atomic */
    struct gt_select_filter_current *next; /* gt_select_filters.all */
    uint32_t uses;                         /* enum gt_filter_need */
    bool quiet;                            /* while recording is off calls do nothing */
    uint8_t number; /* gt_code.own where the set says nothing of the function; 0: of no code */
};

struct gt_select_filters {
    /* at load */
    struct gt_select_filter_argument argument[GT_FILTER_ARGUMENTS];
    GArray *words;  /* in the order in which they were given; later the control socket's */
    int match;      /* enum gt_filter_match */
    int state;      /* recording=: 1: off until a trigger */
    uint32_t depth; /* calls at this depth of the recording and deeper are not recorded: plan.c */

    const struct gt_filter_set *values; /* that the options name; its triggers may ask for some */
    struct gt_select_filter_current
        *watching; /* in place of current: nothing of it concerns calls */
    struct gt_select_filter_current *current; /* NULL: all is recorded. Atomic */
    bool levels, reads;   /* at load: sets may need levels; may read registers */
    pthread_mutex_t lock; /* of the members below, and of functions' addresses */
    struct gt_support_arena arena;
    GPtrArray *functions;                   /* struct gt_select_filter_known *: those with a name */
    struct gt_select_filter_known *unknown; /* code that was not translated */
    /* Addresses in code without symbols that were asked for, by hash_address(). Atomic */
    struct gt_select_filter_judged *recent[GT_FILTER_RECENT];
    struct gt_select_filter_current *all; /* those that are in use, and free ones */
    uint64_t made;                        /* sets so far */
    uint64_t ended;                       /* 0, or when a trigger has ended the recording. Atomic */
};

/* A call has arrived at the block, or, on the slow path, any transfer. gt_code.own says so: it is
 * 1, or the number of a set that says nothing of the function. Several threads may enter at once.
 */
static inline void gt_select_code_enter(struct gt_code *code)
{
    if (!__atomic_load_n(&code->own, __ATOMIC_RELAXED))
        __atomic_store_n(&code->own, 1, __ATOMIC_RELAXED);
}

static inline bool gt_select_code_is_entered(const struct gt_code *code)
{
    return __atomic_load_n(&code->own, __ATOMIC_RELAXED) != 0;
}

/* At load: rows of the plugin's arguments, of which `table` has room for GT_FILTER_ARGUMENTS; how
 * many there are. */
size_t gt_select_filters_arguments(struct gt_select_filters *f, struct gt_support_arg *table);
/* At load, after the arguments were read and the guest is known: makes the set. Errors of
 * gt_filter_set_add. */
int gt_select_filters_init(struct gt_recorder *r, struct gt_error *err);

/* At load, after the code map was read. GT_E_UNSUPPORTED: a filter is about source lines, and the
 * machine's map has none, or gt_select_filters_check_names. */
int gt_select_filters_check(const struct gt_recorder *r, struct gt_error *err);
/* GT_E_UNSUPPORTED: the set is about names of tasks, which cannot be read from the guest, a Linux
 * as the code map says. */
int gt_select_filters_check_names(const struct gt_recorder *r, const struct gt_filter_set *set,
                                  struct gt_error *err);

/* What decides now, for those who hold it, or ask only whether there is one. */
static inline struct gt_select_filter_current *
gt_select_filters_current(const struct gt_select_filters *f)
{
    return __atomic_load_n(&f->current, __ATOMIC_ACQUIRE);
}

/* What has the triggers of other causes than calls; NULL: there are none. */
static inline struct gt_select_filter_current *
gt_select_filters_watching(const struct gt_select_filters *f)
{
    return f->watching ? f->watching : gt_select_filters_current(f);
}

/* sets.c: what gt_select_filters_current or gt_select_filters_watching returns, held until it is
 * released: it stays as it is, whatever replaces it. NULL: there is none. Lock-free. */
struct gt_select_filter_current *gt_select_filters_take(struct gt_select_filters *f);
struct gt_select_filter_current *gt_select_filters_take_watching(struct gt_select_filters *f);
void gt_select_filters_release(struct gt_select_filter_current *c); /* NULL is fine */
/* Takes the set over. NULL: no memory. */
struct gt_select_filter_current *
gt_select_filters_new(struct gt_recorder *r, struct gt_filter_set *set, struct gt_error *err);
/* It decides from now on; sets that no task holds are freed. At load, or on the control socket's
 * thread. */
void gt_select_filters_use(struct gt_select_filters *f, struct gt_select_filter_current *next);
/* False: no task has that set any more. With f->lock. */
bool gt_select_filters_has(const struct gt_select_filters *f, uint64_t id);

/* From now on nothing more is recorded; the guest goes on. */
void gt_select_filters_end_recording(struct gt_select_filters *f, struct gt_filter_live *live,
                                     uint64_t time);

/* Code of the function runs, from the address on, or is translated: it becomes known. In a callback
 * that may read registers, with r->lock. */
void gt_select_filters_know(struct gt_recorder *r, uint64_t addr,
                            const struct gt_support_module *module, struct gt_track_func *fn);

/* A set's verdict of a function: gt_track_func.known. */
struct gt_select_filter_judged {
    struct gt_filter_verdict verdict; /* first: see gt_select_filters_name */
    uint64_t id; /* of the set; 0: there is no verdict of the function as a whole. Atomic */
    struct gt_select_filter_known *of;
    struct gt_select_filter_judged *next; /* of the same function */
};

const struct gt_filter_verdict *
gt_select_filters_find(struct gt_recorder *r, const struct gt_select_filter_current *current,
                       const struct gt_track_func *fn, uint64_t addr);

static inline bool gt_select_filter_judged_by(const struct gt_select_filter_judged *j,
                                              const struct gt_select_filter_current *current)
{
    return __atomic_load_n(&j->id, __ATOMIC_ACQUIRE) == current->id;
}

/* The set's verdict of the function of a call that arrived at the address. Any thread that holds
 * the set; never NULL. */
static inline const struct gt_filter_verdict *
gt_select_filters_verdict(struct gt_recorder *r, const struct gt_select_filter_current *current,
                          const struct gt_track_func *fn, uint64_t addr)
{
    const struct gt_select_filter_judged *j = __atomic_load_n(&fn->known, __ATOMIC_ACQUIRE);
    return __builtin_expect(j && gt_select_filter_judged_by(j, current), 1)
               ? &j->verdict
               : gt_select_filters_find(r, current, fn, addr);
}
/* True: a trigger of the block's function reads a register at its entry. With r->lock. */
bool gt_select_filters_reads(struct gt_recorder *r, const struct gt_code *code);
/* The name of a verdict's function. */
const char *gt_select_filters_name(const struct gt_filter_verdict *verdict);

/* While the guest runs, if there is a control socket; on its thread. Each task takes notice at its
 * next call. */

/* From now on nothing is recorded, or what the filters let pass. GT_E_UNSUPPORTED: the recording
 * has no filters, or a trigger has ended it. */
int gt_select_filter_switch(struct gt_recorder *r, bool on, struct gt_error *err);
/* Other filters and triggers: options of `guesttrace record`, quoted as in a shell; none: all is
 * recorded. It stays on or off. The former set lives on while a task has it. Forked children keep
 * what they have. GT_E_UNSUPPORTED, GT_E_USAGE, GT_E_NOMEM and errors of gt_filter_set_add: all
 * stays as it was. */
int gt_select_filter_replace(struct gt_recorder *r, const char *words, struct gt_error *err);
/* Triggers beside the present filters and triggers; the same errors. */
int gt_select_filter_add_triggers(struct gt_recorder *r, const char *words, struct gt_error *err);

/* At the end: how many calls are recorded, as readers count them: open ones that a task begins
 * with, as a forked child does, count again. */
uint64_t gt_select_filters_recorded(const struct gt_recorder *r);
/* At the end: prints the patterns that have matched nothing. */
void gt_select_filters_report(struct gt_recorder *r);

#endif
