/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to libgtrace: the open recording, and what its parts share. */
#ifndef GT_GTRACE_PRIVATE_H
#define GT_GTRACE_PRIVATE_H

#include "base/output.h"
#include "calls/read/calls.h"
#include "gtrace/gtrace.h"
#include "names/image/demangle.h"
#include "recording/texts/stats.h"

#include <glib.h>
#include <pthread.h>

/* What the library exports. */
#define API __attribute__((visibility("default")))

struct gtrace {
    struct gt_calls *calls;
    struct gt_recording_stats stats;
    GArray *anomalies;    /* const struct gt_recording_stat *, of stats */
    char *date, *elapsed; /* lines of the info file; NULL: it has none */
    pthread_mutex_t lock;
    struct gt_image_demangler *demangler; /* under the lock */
    void (*notice)(void *user, const char *line);
    void *user;
};

/* Which functions a window chooses. One thread. { NULL } chooses all. */
struct gt_gtrace_choice {
    const char *const *patterns; /* the window's */
    GByteArray *known;           /* by index: 0 not asked yet, 1 no, 2 yes */
};
void gt_gtrace_choice_init(struct gt_gtrace_choice *c, const struct gtrace_window *w);
bool gt_gtrace_chosen(struct gt_gtrace_choice *c, struct gtrace *t, uint32_t function);
void gt_gtrace_choice_finish(struct gt_gtrace_choice *c);

/* The filter as readers know it; NULL: none. */
const struct gt_filter_set *gt_gtrace_filter_set(const struct gtrace_filter *f);

/* The window as readers know it. GT_E_USAGE: it cannot be one. */
struct gt_gtrace_pass {
    struct gt_calls_window window;
    struct gtrace_window asked; /* with this library's size */
    bool *tasks;
};
int gt_gtrace_pass_init(struct gt_gtrace_pass *p, const struct gtrace *t,
                        const struct gtrace_window *w, struct gtrace_error *err);
void gt_gtrace_pass_finish(struct gt_gtrace_pass *p);

/* Copies the first bytes of a struct of ours to a caller's, which begins with its size: what this
 * library does not know becomes 0. */
void gt_gtrace_put(void *out, const void *ours, size_t size);
/* The other way round: what the caller does not know is 0. */
void gt_gtrace_get(void *ours, size_t size, const void *theirs);
/* Fills err, which may be NULL, from ours; returns the status. */
int gt_gtrace_fail(struct gtrace_error *err, int status, const struct gt_error *from);
int gt_gtrace_usage(struct gtrace_error *err, const char *text);
/* Ends the output; returns `status`, or GT_E_IO where it could not be written. */
int gt_gtrace_written(struct gt_output *out, int status, struct gt_error *e);
/* enum gtrace_flag of an event, which says also by the recording's ends that a call is open. */
static inline uint32_t gt_gtrace_flags(const struct gtrace *t, const struct gt_call *e)
{
    const uint32_t ours = GTRACE_RECURSIVE | GTRACE_CLIPPED | GTRACE_OPEN | GTRACE_PART;
    const bool open = gt_call_may_be_open(e, gt_calls_first_end(t->calls, e->task)) &&
                      gt_calls_is_open(t->calls, e);
    return (e->flags & ours) | (open ? (uint32_t)GTRACE_OPEN : 0);
}

/* The name demangled. */
const char *gt_gtrace_demangle(struct gtrace *t, const char *name);

#endif
