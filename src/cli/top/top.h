/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `guesttrace top` shows: a recording that is being written, asked through its control socket
 * to write what it has, and followed. top.c has its looks and rows, columns.c their texts,
 * batch.c prints them, screen.c shows them in the terminal. */
#ifndef GT_CLI_TOP_TOP_H
#define GT_CLI_TOP_TOP_H

#include "calls/read/follow.h"
#include "cli/ctl/ctl.h"
#include "names/image/demangle.h"
#include "names/placement/live.h"

#include <stdbool.h>

struct gt_cli_command;

enum gt_cli_top_sort {
    GT_TOP_BY_SELF,
    GT_TOP_BY_TOTAL,
    GT_TOP_BY_CALLS,
    GT_TOP_BY_ALL_SELF,
    GT_TOP_BY_ALL_TOTAL,
    GT_TOP_BY_ALL_CALLS,
    GT_TOP_BY_NAME,
    GT_TOP_SORTS
};
extern const char *const gt_cli_top_sort_names[GT_TOP_SORTS + 1]; /* until NULL */

enum gt_cli_top_state {
    GT_TOP_CONNECTED,
    GT_TOP_GOES_ON,     /* the connection was lost, a process of the recording is there */
    GT_TOP_INTERRUPTED, /* no process of it is there, and it is not complete */
    GT_TOP_ENDED,       /* it is complete, and all of it was read */
};

struct gt_cli_top_row {
    const char *name, *module; /* of a task: module NULL */
    uint32_t task;
    bool suspends; /* as struct gt_calls_follow_function has it */
    struct gt_calls_follow_sums sums;
};

struct gt_cli_top {
    const char *socket;
    uint64_t most; /* see gt_calls_follow_create */
    struct gt_cli_ctl link;
    char *path;                      /* of the recording */
    struct gt_error_notices notices; /* about damage */
    GPtrArray *held; /* notices of a screen, until that has gone; NULL: there is none */
    struct gt_calls_follow *follow;
    struct gt_place_live *live;           /* names of a machine's addresses */
    struct gt_image_demangler *demangler; /* NULL: names stay as they are */
    enum gt_cli_top_state state;
    bool is_on;        /* calls are recorded: ctl on, off */
    GString *lost_why; /* of the connection */
    bool by_task;      /* rows are tasks */
    bool wall;         /* totals have the time in which tasks were suspended */
    enum gt_cli_top_sort sort;
    char *glob;     /* of the rows' names; NULL: all */
    char *task;     /* only these: a number or a glob; NULL: all */
    char *since;    /* the time of day that sums are since, unless it is the begin */
    uint64_t limit; /* of rows; 0: all */
    GArray *rows;   /* struct gt_cli_top_row */
    struct gt_calls_follow_sums sums; /* of all tasks */
    int64_t looked;                   /* when the last look was, in us; 0: there was none */
    double seconds;                   /* between the last two looks; 0: there was one */
};

/* Connects, and asks where the recording is. Notices are held where there is `held`. Errors of
 * gt_cli_ctl_open and gt_cli_ctl_command; GT_E_UNSUPPORTED: the socket is not one of a recording of
 * calls.
 */
int gt_cli_top_open(struct gt_cli_top *t, const char *socket, struct gt_error *err);
/* Reports the held notices. */
void gt_cli_top_close(struct gt_cli_top *t);
/* A file with names of a machine's functions: FILE[:OFFSET]. Errors of gt_place_live_add. */
int gt_cli_top_add_symbols(struct gt_cli_top *t, const char *argument, struct gt_error *err);

/* Reads new records. Errors of gt_calls_follow_read and of the command flush. */
int gt_cli_top_look(struct gt_cli_top *t, struct gt_error *err);
/* Only this task, or tasks of these names, from here on; NULL or "": all. */
void gt_cli_top_set_task(struct gt_cli_top *t, const char *task);
/* Makes the rows, without reading. */
void gt_cli_top_list(struct gt_cli_top *t);

/* Facts of all: how many tasks, calls, the recording's state, its path. The caller frees it. */
char *gt_cli_top_title(const struct gt_cli_top *t);
/* "on", "off", "disconnected", "interrupted" or "ended". */
const char *gt_cli_top_state_name(const struct gt_cli_top *t);
/* Headings, and the numbers of a row, for a terminal of that many columns: the name follows. */
void gt_cli_top_put_heading(const struct gt_cli_top *t, int columns, GString *out);
void gt_cli_top_put_numbers(const struct gt_cli_top *t, const struct gt_cli_top_row *row,
                            int columns, GString *out);
/* The name that a row is shown with, and its module behind it; the caller frees it. */
char *gt_cli_top_name(const struct gt_cli_top *t, const struct gt_cli_top_row *row);

/* How often, and how many. */
struct gt_cli_top_pace {
    int delay;      /* ms between tables */
    uint64_t count; /* of tables; 0: until the recording ends, or the key q */
};

/* Prints tables. Returns 0; errors of gt_cli_top_look; GT_E_IO: the recording was interrupted, or
 * standard output. */
int gt_cli_top_batch(struct gt_cli_top *t, const struct gt_cli_top_pace *pace, bool json,
                     struct gt_error *err);
/* Shows them in the terminal. Errors of gt_cli_terminal_open and gt_cli_top_look. */
int gt_cli_top_screen(struct gt_cli_top *t, const struct gt_cli_top_pace *pace,
                      struct gt_error *err);

/* Milliseconds of a text of seconds, from 0.01 to 3600; -1: another text. */
int gt_cli_top_delay(const char *seconds);

#endif
