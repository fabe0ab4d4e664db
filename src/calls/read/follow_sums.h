/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Internal to follow.c: the functions and tasks of a recording that is followed, and their sums.
 *
 * A sum is what calls that have ended had (`ended`), and what those that are open have had until
 * their task's last record (`open`, made anew by each look), without the sums before the
 * first look of a part (`before`).
 */
#ifndef GT_CALLS_READ_FOLLOW_SUMS_H
#define GT_CALLS_READ_FOLLOW_SUMS_H

#include "calls/read/follow.h"
#include "calls/read/recording.h"
#include "calls/read/stack.h"

struct gt_calls_follow_times {
    struct gt_calls_follow_sum ended, open, before;
};

struct gt_calls_follow_calls {
    GHashTable *functions; /* struct function, by name and module */
    GPtrArray *function;   /* struct function: stacks have indexes of this */
    GHashTable *tasks;     /* by id */
    GPtrArray *task;       /* struct gt_calls_follow_open_task */
    uint64_t lost;
    bool counts;                                                     /* new records are summed up */
    bool (*wants)(void *self, const struct gt_calls_follow_task *t); /* NULL: all tasks */
    void *wants_self;
};

struct gt_calls_follow_open_task {
    struct gt_calls_follow_task public; /* its name is ours */
    struct gt_calls_follow_times times;
    struct gt_calls_stack stack;
    uint64_t since; /* the stack was begun then, with calls that were open */
    bool is_begun;
    bool is_left_out;
};

void gt_calls_follow_calls_init(struct gt_calls_follow_calls *f);
void gt_calls_follow_calls_finish(struct gt_calls_follow_calls *f);

/* Where an address was met: a look that comes later may know a symbol there. */
struct gt_calls_follow_place {
    uint32_t task; /* id */
    uint64_t time, address;
};

/* It has no symbol: its name is its address. */
bool gt_calls_follow_is_address(const struct gt_calls_function *of);
/* The index of a function of the recording. */
uint32_t gt_calls_follow_number(struct gt_calls_follow_calls *f, const struct gt_calls_function *of,
                                const struct gt_calls_follow_place *at);
/* The place of the function at an index, if that is an address without a symbol; else NULL. */
const struct gt_calls_follow_place *gt_calls_follow_unnamed(const struct gt_calls_follow_calls *f,
                                                            uint32_t index);
/* That one is this function, which now has a name. gt_calls_follow_renumber is due. */
void gt_calls_follow_rename(struct gt_calls_follow_calls *f, uint32_t index,
                            const struct gt_calls_function *of);
/* Functions have got names: open calls count for the functions that they are by now. */
void gt_calls_follow_renumber(struct gt_calls_follow_calls *f);
/* The task of that id; it is added. */
struct gt_calls_follow_open_task *gt_calls_follow_task_of(struct gt_calls_follow_calls *f,
                                                          uint32_t id);
/* The task has that name now. */
void gt_calls_follow_name_task(struct gt_calls_follow_calls *f, struct gt_calls_follow_open_task *t,
                               const char *name);
/* Asks of all tasks whether they are wanted. */
void gt_calls_follow_choose(struct gt_calls_follow_calls *f);
/* Takes what stacks make: as struct gt_calls_out.take. */
int gt_calls_follow_take(void *calls, struct gt_calls_stack *s, const struct gt_calls_out *out);
/* A look has been: makes the sums that are shown. `restarts`: they begin with nothing. */
void gt_calls_follow_sum_up(struct gt_calls_follow_calls *f, bool restarts);

#endif
