/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `guesttrace top` shows: a recording that is being written, asked through its control socket
 * to write what it has, and followed (cli/follow). columns.c has the texts of its rows, batch.c
 * prints them, screen.c shows them in the terminal. */
#ifndef GT_CLI_TOP_TOP_H
#define GT_CLI_TOP_TOP_H

#include "cli/ctl/ctl.h"
#include "cli/follow/rows.h"

#include <stdbool.h>

struct gt_cli_command;

struct gt_cli_top {
    const char *socket;
    struct gt_cli_ctl link;
    struct gt_error_notices notices; /* about damage */
    GPtrArray *held; /* notices of a screen, until that has gone; NULL: there is none */
    struct gt_cli_follow *follow;
    bool is_on;        /* calls are recorded: ctl on, off */
    GString *lost_why; /* of the connection */
};

/* Connects, and asks where the recording is. Notices are held where there is `held`. `most`,
 * `demangle`: of gt_cli_follow_create. Errors of gt_cli_ctl_open and gt_cli_ctl_command;
 * GT_E_UNSUPPORTED: the socket is not one of a recording of calls.
 */
int gt_cli_top_open(struct gt_cli_top *t, const char *socket, uint64_t most, bool demangle,
                    struct gt_error *err);
/* Reports the held notices. */
void gt_cli_top_close(struct gt_cli_top *t);

/* Facts of all: how many tasks, calls, the recording's state, its path. The caller frees it. */
char *gt_cli_top_title(const struct gt_cli_top *t);
/* "on", "off", "disconnected", "interrupted" or "ended". */
const char *gt_cli_top_state_name(const struct gt_cli_top *t);
/* Headings, and the numbers of a row, for a terminal of that many columns: the name follows. */
void gt_cli_top_put_heading(const struct gt_cli_top *t, int columns, GString *out);
void gt_cli_top_put_numbers(const struct gt_cli_top *t, const struct gt_cli_follow_row *row,
                            int columns, GString *out);
/* The name that a row is shown with, and its module behind it; the caller frees it. */
char *gt_cli_top_name(const struct gt_cli_top *t, const struct gt_cli_follow_row *row);

/* How often, and how many. */
struct gt_cli_top_pace {
    int delay;      /* ms between tables */
    uint64_t count; /* of tables; 0: until the recording ends, or the key q */
};

/* Prints tables. Returns 0; errors of gt_cli_follow_look; GT_E_IO: the recording was interrupted,
 * or standard output. */
int gt_cli_top_batch(struct gt_cli_top *t, const struct gt_cli_top_pace *pace, bool json,
                     struct gt_error *err);
/* Shows them in the terminal. Errors of gt_cli_terminal_open and gt_cli_follow_look. */
int gt_cli_top_screen(struct gt_cli_top *t, const struct gt_cli_top_pace *pace,
                      struct gt_error *err);

/* Milliseconds of a text of seconds, from 0.01 to 3600; -1: another text. */
int gt_cli_top_delay(const char *seconds);

#endif
