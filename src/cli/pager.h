/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a reading command prints: through a pager and in colour on a terminal, plainly elsewhere.
 *
 * The pager is GUESTTRACE_PAGER, else PAGER, else less, where one of them is not empty and not
 * "cat"; less quits by itself where all fits on the screen. Until gt_cli_pager_finish the
 * terminal's interrupt is the pager's, so a command calls gt_cli_pager_start when it begins to
 * print.
 *
 * A reader that closes its end (the pager, head) is not an error: the command ends quietly.
 */
#ifndef GT_CLI_PAGER_H
#define GT_CLI_PAGER_H

#include "base/output.h"
#include "cli/options.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum gt_cli_color {
    GT_COLOR_NONE, /* ends a colour */
    GT_COLOR_BOLD,
    GT_COLOR_RED,
    GT_COLOR_GREEN,
    GT_COLOR_YELLOW,
    GT_COLOR_BLUE,
    GT_COLOR_MAGENTA,
    GT_COLOR_CYAN,
    GT_COLOR_GRAY,
};

/* The bytes that begin a colour; "" where `on` is false. */
const char *gt_cli_color(bool on, enum gt_cli_color color);

/* That of a time of n ns, by the unit that it is shown in; GT_COLOR_NONE below a millisecond. */
enum gt_cli_color gt_cli_color_of_time(uint64_t ns);

/* `choice` is the value of --color: "always", "never", else (NULL, "auto") by the terminal:
 * standard output is one that has colours, and NO_COLOR (https://no-color.org) is not set. */
bool gt_cli_color_wanted(const char *choice);

struct gt_cli_pager_options {
    bool off;
    const char *color;
};

/* Rows of a table of options; `member` is the struct gt_cli_pager_options in `options`. */
#define GT_PAGER_OPTIONS(options, member)                                                          \
    {"no-pager", .type = GT_OPTION_FLAG, .help = "print directly, also on a terminal",             \
     .heading = GT_UNDER_OUTPUT, .offset = offsetof(options, member.off)},                         \
    {                                                                                              \
        "color",                                                                                   \
            .type = GT_OPTION_CHOICE, .value = "WHEN",                                             \
            .choices = (const char *const[]){"auto", "always", "never", NULL},                     \
            .help =                                                                                \
                "print in colour; auto: on a terminal, unless NO_COLOR is set (default: auto)",    \
            .heading = GT_UNDER_OUTPUT, .offset = offsetof(options, member.color)                  \
    }

struct gt_cli_pager {
    struct gt_output out; /* what the command prints goes here */
    bool color;
    pid_t pid;     /* of the pager; 0: none */
    char *command; /* of the pager */
    struct sigaction interrupt, quit, pipe;
};

/* Starts the pager, if there is to be one, and makes p->out write to it, else to standard output.
 * GT_E_IO. */
int gt_cli_pager_start(struct gt_cli_pager *p, const struct gt_cli_pager_options *o,
                       struct gt_error *err);
/* Writes the rest and waits for the end of the pager. GT_E_IO: the output could not be written,
 * or the pager could not be run. */
int gt_cli_pager_finish(struct gt_cli_pager *p, struct gt_error *err);
/* True: the reader of the rest has gone. */
static inline bool gt_cli_pager_closed(const struct gt_cli_pager *p)
{
    return p->out.failed != 0;
}

#endif
