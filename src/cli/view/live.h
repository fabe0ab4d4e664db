/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers about a recording that is being written, for the page of `guesttrace view --follow`:
 * `info` says so, `live` has the table of what runs, as docs/view.md has it. When the recording has
 * ended it is opened, and its page answers all. One look a second is made, while
 * somebody asks. Answers may be made on several threads at a time.
 */
#ifndef GT_CLI_VIEW_LIVE_H
#define GT_CLI_VIEW_LIVE_H

#include "base/error.h"
#include "gtrace/gtrace.h"

#include <stdbool.h>

struct gt_cli_view_live;

struct gt_cli_view_live_options {
    const char *path;
    bool demangle;
    struct gt_error_notices notices;
    /* Opens the page of the recording that has ended, and reads it until gtrace_page_stop; on a
     * thread. It stays the caller's. */
    int (*open)(void *self, struct gtrace_page **out, struct gt_error *err);
    void (*read)(void *self);
    void *self;
};

/* Makes the first look. Errors of gt_cli_follow_look; GT_E_NOMEM: no thread. */
int gt_cli_view_live_open(const struct gt_cli_view_live_options *o, struct gt_cli_view_live **out,
                          struct gt_error *err);
/* No look is made any more, and the page is stopped. */
void gt_cli_view_live_stop(struct gt_cli_view_live *l);
/* After that, when nothing is asked any more. NULL is fine. */
void gt_cli_view_live_close(struct gt_cli_view_live *l);

/* An answer: as gtrace_page_answer. `live` is a struct gt_cli_view_live. */
int gt_cli_view_live_answer(void *live, const char *question,
                            const char *(*value)(void *user, const char *key), void *user, int fd,
                            struct gtrace_page_answer *out, struct gtrace_error *err);

#endif
