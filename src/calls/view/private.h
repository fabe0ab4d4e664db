/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to view/: what answers share. */
#ifndef GT_CALLS_VIEW_PRIVATE_H
#define GT_CALLS_VIEW_PRIVATE_H

#include "base/json.h"
#include "calls/profile/tree.h"
#include "calls/timeline/timeline.h"
#include "calls/view/sources.h"
#include "calls/view/view.h"
#include "names/image/demangle.h"

#include <glib.h>
#include <pthread.h>

enum {
    GT_VIEW_TREES = 2,           /* that are kept */
    GT_VIEW_TREE_NODES = 100000, /* of trees that are kept beside a new one */
    GT_VIEW_NAME = 4096,         /* bytes of a name that are given */
    GT_VIEW_ROWS = 100000,       /* of a list in an answer */
    GT_VIEW_SMALLEST = 2000, /* flame graphs: what has less than this part of all is summed up */
};

/* A part of the recording: its time, and tasks. */
struct gt_view_range {
    struct gt_calls_window window;
    bool *tasks; /* NULL: all */
    char *key;   /* equal where the range is */
};

struct gt_view_tree {
    struct gt_profile_tree tree;
    char *key; /* NULL: none is kept here */
    uint64_t used;
};

struct gt_view {
    struct gt_calls *calls;
    struct gt_timeline *timeline;
    struct gt_view_other *other; /* NULL: none */
    const struct gt_view_sources *sources;
    char *title;
    unsigned threads;
    bool stop;
    pthread_mutex_t names_lock;
    struct gt_image_demangler *demangler;
    pthread_mutex_t trees_lock; /* for the trees, also while they are read */
    struct gt_view_tree tree[GT_VIEW_TREES];
    uint64_t turn;
};

/* An answer: writes it, as one value. */
typedef int gt_view_fn(struct gt_view *v, const struct gt_view_query *q, struct gt_json *j,
                       struct gt_error *err);

gt_view_fn gt_view_info, gt_view_tracks, gt_view_marks, gt_view_functions, gt_view_tiles,
    gt_view_report, gt_view_groups, gt_view_flame, gt_view_function, gt_view_edges, gt_view_find,
    gt_view_values, gt_view_slept, gt_view_difference, gt_view_changes, gt_view_names,
    gt_view_source, gt_view_match, gt_view_hits, gt_view_initcalls;

/* Tiles of all tasks at a level, as one answer. *exact: all calls stand alone there, none are
 * summed up. Errors of gt_timeline_look. */
int gt_view_level(struct gt_view *v, unsigned exp, struct gt_json *j, bool *exact,
                  struct gt_error *err);

/* A parameter that is a number of at most `most`; *out stays where it is not given. GT_E_USAGE. */
int gt_view_number(const struct gt_view_query *q, const char *key, uint64_t most, uint64_t *out,
                   struct gt_error *err);
/* wall=1: times from calls to returns; else those that ran. GT_E_USAGE. */
int gt_view_wall(const struct gt_view_query *q, bool *out, struct gt_error *err);
/* "1,2,3": numbers below `limit`; empty where it is not given. The caller frees it. */
int gt_view_list(const struct gt_view_query *q, const char *key, uint64_t limit, GArray **out,
                 struct gt_error *err);
/* functions: of n, which are in the list. g_free, also after an error. GT_E_USAGE. */
int gt_view_functions_of(const struct gt_view_query *q, size_t n, bool **out, struct gt_error *err);
/* from, to, tasks, wall. The caller clears it, also after an error. GT_E_USAGE. */
int gt_view_range_get(struct gt_view *v, const struct gt_view_query *q, struct gt_view_range *out,
                      struct gt_error *err);
void gt_view_range_clear(struct gt_view_range *r);

/* The tree of calls of a range, functions of one name and module being one. Locks the trees, also
 * after an error; gt_view_tree_done unlocks them. */
int gt_view_tree_get(struct gt_view *v, const struct gt_view_range *r,
                     const struct gt_profile_tree **out, struct gt_error *err);
void gt_view_tree_done(struct gt_view *v);
void gt_view_trees_forget(struct gt_view *v); /* all that are kept */

/* Of each node of a flame graph: the time of its calls. g_free. */
uint64_t *gt_view_tree_times(const struct gt_profile_tree *t);
/* How many calls are on a path and below it; of the inverse tree, whose nodes count calls of the
 * function on top, how many calls of it. g_free. */
uint64_t *gt_view_tree_calls(const struct gt_profile_tree *t, bool inverse);
/* The tree of callers, without nodes too small to be shown. GT_E_NOMEM. */
int gt_view_tree_inverse(const struct gt_profile_tree *t, struct gt_calls *c,
                         struct gt_profile_tree *out, struct gt_error *err);

/* What a recording is compared with: other.h. */
struct gt_view_other;
struct gt_view_other *gt_view_other_create(struct gt_calls *c, const char *title);
void gt_view_other_destroy(struct gt_view_other *o); /* NULL is fine */
const struct gt_calls *gt_view_other_calls(const struct gt_view_other *o);
const char *gt_view_other_title(const struct gt_view_other *o);

static inline uint64_t gt_view_time(const struct gt_view *v, uint64_t time)
{
    const uint64_t first = gt_calls_facts(v->calls)->first;
    return time > first ? time - first : 0;
}

static inline void gt_view_put(struct gt_json *j, const char *key, uint64_t value)
{
    gt_json_key(j, key);
    gt_json_u64(j, value);
}

static inline void gt_view_put_string(struct gt_json *j, const char *text)
{
    const size_t n = strlen(text);
    gt_json_string(j, text, n < GT_VIEW_NAME ? n : GT_VIEW_NAME);
}

static inline void gt_view_put_text(struct gt_json *j, const char *key, const char *text)
{
    gt_json_key(j, key);
    gt_view_put_string(j, text);
}

#endif
