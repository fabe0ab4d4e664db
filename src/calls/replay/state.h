/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of replay share: the state of one run. */
#ifndef GT_CALLS_REPLAY_STATE_H
#define GT_CALLS_REPLAY_STATE_H

#include "base/text.h"
#include "calls/replay/replay.h"

#include <glib.h>

#define GT_REPLAY_NONE UINT32_MAX /* no function, no task */

/* A function, as lines show it. */
struct gt_replay_name {
    const char *text; /* escaped */
    uint32_t n;
    uint32_t stem; /* bytes before the parameters, where the name has such; else n */
    bool plain;    /* "()" follows: the name has no parameters */
    bool called;   /* see gt_replay_options */
    bool inside;
    bool schedule; /* not a function: the task is suspended */
};

struct gt_replay_task {
    uint32_t shown;    /* calls that are open and shown */
    uint32_t root;     /* depth + 1 of the open call of a function that is wanted; 0: none is */
    size_t name;       /* names of the task that it had already */
    uint64_t last;     /* time of its line before; 0: none */
    GArray *arguments; /* of open calls: json.c; NULL: none */
    GArray *before; /* of struct gt_call: open since before the window; NULL: none. Their `begin` is
                     * the true one */
    bool before_shown; /* by the tree */
    char tid[16];      /* "[%6d]" */
    uint8_t tid_length;
};

/* An entry, whose line depends on the next record. */
struct gt_replay_pending {
    struct gt_call call;
    uint32_t depth; /* of the line */
    bool any;
    struct gt_text values; /* of its arguments, as text; len 0: none */
};

/* A task gets another name. */
struct gt_replay_renaming {
    uint64_t time;
    uint32_t task;
    const char *name;
};

struct gt_replay {
    struct gt_calls *calls;
    const struct gt_replay_options *o;
    struct gt_output *out;
    const struct gt_replay_layout *layout;
    uint64_t *ring, n_ring; /* begins of the last calls, by number */
    const char *mark_word;  /* what a mark is: "console", "mark" */
    uint64_t first;         /* of the recording */
    struct gt_replay_task *task;
    struct gt_replay_name **names; /* by function, NULL: not seen yet */
    size_t n_names;
    GStringChunk *texts;
    const struct gt_calls_mark *mark, *marks_end;
    GArray *renamings; /* in order of time */
    guint renaming;    /* the next one */
    uint64_t next;     /* time of the next mark or renaming; UINT64_MAX: there is none */
    struct gt_replay_pending pending;
    GArray *open; /* of struct gt_call: the recording ends in them */
    const char *color[GT_REPLAY_COLORS];
    struct gt_text values; /* of the event at hand */
};

/* names.c */
const struct gt_replay_name *gt_replay_name_find(struct gt_replay *r, uint32_t function);
void gt_replay_names_clear(struct gt_replay *r);

/* One of the layouts. The calls are those that are shown; task->shown counts them before an entry
 * and after an exit. */
struct gt_replay_layout {
    void (*begin)(struct gt_replay *r);
    void (*call)(struct gt_replay *r, const struct gt_call *e);
    void (*mark)(struct gt_replay *r, const struct gt_calls_mark *m);
    void (*rename)(struct gt_replay *r, const struct gt_replay_renaming *n);
    void (*end)(struct gt_replay *r);
};
extern const struct gt_replay_layout gt_replay_tree, gt_replay_flat, gt_replay_json;

/* columns.c */
struct gt_replay_line {
    uint64_t time;
    uint32_t task;     /* GT_REPLAY_NONE: of no task */
    uint32_t function; /* GT_REPLAY_NONE: not of a call */
    uint64_t duration; /* 0: not shown */
};
void gt_replay_put_heading(struct gt_replay *r);
/* The columns, and the space between them and the function. */
void gt_replay_put_columns(struct gt_replay *r, const struct gt_replay_line *l);
void gt_replay_put_escaped(struct gt_replay *r, const char *text);
/* The values of the call's event, as text, in *out, which is emptied first; false: it has none. */
bool gt_replay_values(struct gt_replay *r, const struct gt_call *e, struct gt_text *out);
/* The name of an event (of its EVENT's `function`), escaped. */
void gt_replay_put_event(struct gt_replay *r, uint32_t id);

#endif
