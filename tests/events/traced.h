/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the traced program, `fire`, which the test's first argument names. */
#ifndef TRACED_H
#define TRACED_H

#include <sys/types.h>

extern const char *traced_program;

/* Starts it with these options, and one that switches its event on, and this action, in words. */
pid_t traced_start(const char *options, const char *on, const char *action);
/* Waits for it: what waitpid() says. */
int traced_finish(pid_t pid);

#endif
