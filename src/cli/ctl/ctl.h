/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The connection of `guesttrace ctl` to a monitor (link.c) and its prompt, with an editable line
 * (prompt_edit.c) or without (prompt_plain.c): the build selects one of the two.
 *
 * Commands are sent as QMP's human-monitor-command, so that their output has an end and a failure
 * can be distinguished from output. QEMU's own QMP sockets and the plugins' control sockets accept
 * it as well.
 */
#ifndef GT_CLI_CTL_CTL_H
#define GT_CLI_CTL_CTL_H

#include "base/error.h"

#include <glib.h>

struct gt_cli_ctl {
    const char *path; /* the caller's string */
    int fd;
    unsigned timeout; /* seconds to wait for an answer */
    GString *in;      /* bytes that were received and not processed yet */
};

/* Connects and exchanges greetings. GT_E_NOT_FOUND, GT_E_IO (refused, no answer in time),
 * GT_E_FORMAT (not what a QMP server says), GT_E_RANGE (the path is too long). */
int gt_cli_ctl_open(struct gt_cli_ctl *c, const char *path, unsigned timeout, struct gt_error *err);
void gt_cli_ctl_close(struct gt_cli_ctl *c);

/* Executes a line of words and appends its output to `out`. GT_E_USAGE: the monitor refused, err
 * has its message; GT_E_IO, GT_E_FORMAT: the connection is broken. */
int gt_cli_ctl_command(struct gt_cli_ctl *c, const char *line, GString *out, struct gt_error *err);

/* Reads lines with a prompt until end of file, and passes each to `take`; a value other than 0 ends
 * the loop. Returns that value, or 0. */
int gt_cli_ctl_prompt(struct gt_cli_ctl *c, int (*take)(void *self, const char *line), void *self);

#endif
