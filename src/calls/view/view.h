/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording as a page shows it: answers in JSON to what the page asks, the same for a page that a
 * server sends and for one that has its data in itself.
 *
 * An answer has a name and parameters. Times are ns since the recording's first record; tasks and
 * functions are indexes of calls.h. docs/decisions/view.md has the answers.
 *
 * Answers may be made on several threads at a time.
 */
#ifndef GT_CALLS_VIEW_VIEW_H
#define GT_CALLS_VIEW_VIEW_H

#include "base/output.h"
#include "calls/read/calls.h"

#include <stdbool.h>

struct gt_view;
struct gt_view_sources; /* calls/view/sources.h */

struct gt_view_options {
    bool demangle;
    const char *title;      /* NULL: the file's name */
    struct gt_calls *other; /* what it is compared with, which stays the caller's; NULL: nothing */
    const struct gt_view_sources *sources; /* the caller's; NULL: answers have no source files */
    /* Of the first pass; 0: all processors. With 1 answers are the same each time: which numbers
     * functions have, and how sums are rounded, depends on the order in which calls are read. */
    unsigned threads;
};

/* A question: the text of a parameter, NULL: it is not given. */
struct gt_view_query {
    const char *(*value)(void *self, const char *key);
    void *self;
};

/* `c` stays the caller's. NULL: no memory. */
struct gt_view *gt_view_create(struct gt_calls *c, const struct gt_view_options *o);
void gt_view_destroy(struct gt_view *v); /* NULL is fine */

/* Reads the whole recording for the time line, which answers have as far as it is. Errors of
 * gt_calls_scan; GT_E_USAGE: gt_view_stop was called. */
int gt_view_read(struct gt_view *v, struct gt_error *err);
void gt_view_stop(struct gt_view *v);

/* Writes an answer. GT_E_NOT_FOUND: there is none of this name; GT_E_USAGE: a parameter is wrong;
 * errors of gt_calls_scan. After an error the written text is not an answer. *final is set where
 * the same question will have the same answer. */
int gt_view_answer(struct gt_view *v, const char *name, const struct gt_view_query *q,
                   struct gt_output *out, bool *final, struct gt_error *err);

/* Writes the page as one file that has its data in itself and needs no server: all sums of the
 * whole recording, and the time line's levels, the coarsest first, as far as they fit into `size`
 * bytes. After gt_view_read. Errors of gt_view_answer; GT_E_RANGE: the sums and the coarsest level
 * do not fit; then nothing was written. */
int gt_view_write_page(struct gt_view *v, uint64_t size, struct gt_output *out,
                       struct gt_error *err);

#endif
