/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording that is being written, and the table of what ran in it since the last look: for
 * `guesttrace top` and for the page of `guesttrace view --follow`. Only its files are read: whoever
 * records never waits for a look.
 */
#ifndef GT_CLI_FOLLOW_FOLLOW_H
#define GT_CLI_FOLLOW_FOLLOW_H

#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stdint.h>

struct gt_cli_follow; /* rows.h */

enum gt_cli_follow_state {
    GT_FOLLOW_CONNECTED,   /* its recorder is asked to write all that it has */
    GT_FOLLOW_GOES_ON,     /* a process of the recording is there */
    GT_FOLLOW_INTERRUPTED, /* no process of it is there, and it is not complete */
    GT_FOLLOW_ENDED,       /* it is complete, and all of it was read */
};

enum gt_cli_follow_sort {
    GT_FOLLOW_BY_SELF,
    GT_FOLLOW_BY_TOTAL,
    GT_FOLLOW_BY_CALLS,
    GT_FOLLOW_BY_ALL_SELF,
    GT_FOLLOW_BY_ALL_TOTAL,
    GT_FOLLOW_BY_ALL_CALLS,
    GT_FOLLOW_BY_NAME,
    GT_FOLLOW_SORTS
};
extern const char *const gt_cli_follow_sort_names[GT_FOLLOW_SORTS + 1]; /* until NULL */

/* What has become of the recording at a path, by its files alone: not CONNECTED. A flight
 * recorder's snapshot is complete. */
enum gt_cli_follow_state gt_cli_follow_state_at(const char *path);

extern const uint64_t gt_cli_follow_from_begin; /* a usual `most` */
/* `most`: as gt_calls_follow_create has it. `demangle`: C++ and Rust names. */
struct gt_cli_follow *gt_cli_follow_create(const char *path, uint64_t most, bool demangle,
                                           const struct gt_error_notices *notices);
void gt_cli_follow_destroy(struct gt_cli_follow *f); /* NULL is fine */

/* Reads new records. Where others may write them, the next look reads files that are just being
 * replaced. Errors of gt_calls_follow_read and of struct gt_cli_follow.ask. */
int gt_cli_follow_look(struct gt_cli_follow *f, struct gt_error *err);
enum gt_cli_follow_state gt_cli_follow_state(const struct gt_cli_follow *f);

/* Which rows, and how many: 0: all. `match`: a glob of their names, or without * and ? a part of
 * them, in any case; NULL: all. */
struct gt_cli_follow_choice {
    bool by_task;
    enum gt_cli_follow_sort sort;
    const char *match;
    uint64_t limit;
};
/* All rows that ran since the recording began, as members of the object that is open in `j`. */
void gt_cli_follow_answer(struct gt_cli_follow *f, const struct gt_cli_follow_choice *c,
                          const char *state, struct gt_json *j);

#endif
