/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands of a control socket (control.h): a table of them, and their answers. An answer is a
 * line: "ok" with or without a text, or "error: " and a text; before it, lines of a command of
 * trace events. `help` is in every table, as are those (events/library/monitor/hmp.c).
 */
#ifndef GT_QEMU_SUPPORT_CONTROL_COMMAND_H
#define GT_QEMU_SUPPORT_CONTROL_COMMAND_H

#include "events/library/monitor/text.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    GT_CONTROL_LINE = 4096,   /* bytes of a line, or of an argument, with its end */
    GT_CONTROL_ANSWER = 1024, /* bytes of an answer's text, with its end */
};

struct gt_control_answer {
    bool failed;
    bool of_events; /* it is of a command of trace events, with lines of its own before it */
    char text[GT_CONTROL_ANSWER];
};

/* Set the answer. A longer text is cut. */
void gt_control_succeed(struct gt_control_answer *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void gt_control_fail(struct gt_control_answer *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct gt_control_command {
    const char *name;
    const char *usage;    /* what follows the name, for people: "[FILE]"; NULL: nothing follows */
    const char *argument; /* the name of that in QMP; NULL: nothing follows */
    bool optional;        /* it may be left out */
    /* On the socket's thread. `args`: what follows, without blanks around it; "": nothing. */
    void (*run)(void *self, const char *args, struct gt_control_answer *answer);
};

/* The commands of one socket; `self` is passed to them. */
struct gt_control_table {
    const struct gt_control_command *commands; /* until a NULL name */
    void *self;
};

/* NULL: there is no such command. */
const struct gt_control_command *gt_control_find(const struct gt_control_table *t,
                                                 const char *name);

/* Runs a command that was found, if what follows is what it takes. */
void gt_control_run(const struct gt_control_table *t, const struct gt_control_command *c,
                    const char *args, struct gt_control_answer *a);

/* Runs the command of a line without its end. Modifies the line. Commands of trace events may add
 * to `lines`. */
void gt_control_run_line(const struct gt_control_table *t, char *line, struct gt_control_answer *a,
                         struct gt_monitor_text *lines);

/* A command of trace events was run: their writer may run since then. */
void gt_control_note_events(void);
bool gt_control_ran_events(void);

#endif
