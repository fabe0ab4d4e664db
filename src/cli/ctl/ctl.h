/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Talking to a monitor: `guesttrace ctl`'s connection (link.c) and its prompt, with an editable
 * line (prompt_edit.c) or without (prompt_plain.c); the build takes one of the two.
 *
 * Commands go as QMP's human-monitor-command, so that their output has an end and a failure is
 * told from output. QEMU's own QMP sockets understand it as well. The control socket of the etrace
 * plugin does not: it takes lines, and answers each by a line.
 */
#ifndef GT_CLI_CTL_CTL_H
#define GT_CLI_CTL_CTL_H

#include "base/error.h"

#include <glib.h>
#include <stdbool.h>

struct gt_ctl {
    const char *path; /* the caller's */
    int fd;
    unsigned timeout; /* s, for an answer */
    GString *in;      /* received, not yet read */
    bool lines;       /* no monitor: a line in, a line out */
};

/* Connects and exchanges greetings. GT_E_NOT_FOUND, GT_E_IO (refused, no answer in time),
 * GT_E_FORMAT (not what a QMP server says), GT_E_RANGE (the path is too long). */
int gt_ctl_open(struct gt_ctl *c, const char *path, unsigned timeout, struct gt_error *err);
void gt_ctl_close(struct gt_ctl *c);

/* Carries out a line of words. Its output is appended to `out`. GT_E_USAGE: the monitor refused,
 * with the message; GT_E_IO, GT_E_FORMAT: the connection is of no use any more. */
int gt_ctl_command(struct gt_ctl *c, const char *line, GString *out, struct gt_error *err);

/* Reads lines with a prompt until the end, and gives each to `take`, which may end it by something
 * else than 0. Returns that, or 0. */
int gt_ctl_prompt(struct gt_ctl *c, int (*take)(void *self, const char *line), void *self);

#endif
