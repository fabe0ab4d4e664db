/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls of a recording as text, in order of time.
 *
 * The layout is that of `uftrace replay`: a column for each field, then the function, indented by
 * how many calls of its task are open. A call in which nothing else happened is one line, others
 * begin with "name() {" and end with "}" and the name. Values of arguments stand between the
 * parentheses, what a call has returned behind them or behind "}". Events, lost records and lines
 * of a machine's console are comments. What a task had open when the window begins is shown before
 * its first line.
 *
 * Indents are cut at GT_REPLAY_INDENT calls: deeper ones have their depth before them.
 *
 * The flat layout has a line for each event:
 *
 *   TIME TID DEPTH EVENT DURATION FUNCTION
 *
 * TIME and DURATION in seconds with nine decimals, DURATION "-" where there is none. EVENT is
 * enter, leave, open (the recording ends in this call), event, lost (FUNCTION: how many records, 0:
 * not known), console or, of a program, mark (TID and DEPTH are "-"). FUNCTION is followed by the
 * values of arguments in parentheses, or by " = " and what the call has returned. Calls that are
 * only open in the window have no line.
 *
 * Names are escaped: see base/text.h.
 */
#ifndef GT_CALLS_REPLAY_REPLAY_H
#define GT_CALLS_REPLAY_REPLAY_H

#include "base/output.h"
#include "calls/read/calls.h"
#include "names/image/demangle.h"

enum gt_replay_field {
    GT_REPLAY_DURATION,
    GT_REPLAY_TID,
    GT_REPLAY_ADDR, /* of the function, in its module */
    GT_REPLAY_TIME,
    GT_REPLAY_DELTA,   /* since the task's line before */
    GT_REPLAY_ELAPSED, /* since the recording's first record */
    GT_REPLAY_AT,      /* the same in seconds, with nine decimals */
    GT_REPLAY_TASK,
    GT_REPLAY_MODULE,
    GT_REPLAY_FIELDS,
};

/* Their names, as uftrace has them (but `at`); NULL after the last. */
extern const char *const gt_replay_fields[GT_REPLAY_FIELDS + 1];

enum gt_replay_color {
    GT_REPLAY_COLOR_END,
    GT_REPLAY_COLOR_MS, /* the unit of a duration */
    GT_REPLAY_COLOR_S,
    GT_REPLAY_COLOR_MINUTES,
    GT_REPLAY_COLOR_COMMENT, /* the name of a call that ended */
    GT_REPLAY_COLOR_EVENT,
    GT_REPLAY_COLOR_LOST,
    GT_REPLAY_COLORS,
};

/* Whether a function is wanted; `shown` is its name as lines show it. Asked once a function. */
typedef bool gt_replay_want(void *user, const struct gt_calls_function *f, const char *shown);

enum gt_replay_form { GT_REPLAY_TREE, GT_REPLAY_FLAT, GT_REPLAY_JSON }; /* JSON: see json.c */

enum { GT_REPLAY_INDENT = 100 };

struct gt_replay_options {
    enum gt_replay_form form;
    uint32_t last;            /* only that many calls, the last ones; 0: all */
    gt_replay_want *called;   /* only calls of these functions and what they call; NULL: all */
    gt_replay_want *inside;   /* only calls of these functions; NULL: all */
    void *user;               /* for both */
    const uint8_t *field;     /* enum gt_replay_field, the columns from left to right, each once */
    size_t n_fields;          /* 0: no columns, no heading */
    const char *const *color; /* by enum gt_replay_color: what begins it; NULL: no colours */
    struct gt_image_demangler *demangler; /* NULL: names are shown as symbols have them */
    bool *any;                            /* set where a call or an event is chosen */
};

/* Writes the calls of the window (NULL: all). Output that failed ends the reading and is not an
 * error here. Errors of gt_calls_walk. */
int gt_replay_write(struct gt_calls *c, const struct gt_calls_window *w,
                    const struct gt_replay_options *o, struct gt_output *out, struct gt_error *err);

#endif
