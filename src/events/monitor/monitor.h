/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The monitor's parts: the thread with its socket (monitor.c, socket.c), what a client sent
 * so far (client.c), and the two languages on the same socket (hmp.c,
 * qmp.c).
 *
 * A client is greeted as QMP clients expect it, by a line of JSON. A message that begins with a
 * brace is a QMP command and is answered by a line of JSON. Everything else is a line of words, as
 * in QEMU's human monitor, answered by lines and a prompt.
 */
#ifndef GT_EVENTS_MONITOR_MONITOR_H
#define GT_EVENTS_MONITOR_MONITOR_H

#include "events/monitor/text.h"

#include <guesttrace/error.h>
#include <sys/types.h>

enum {
    GT_MONITOR_MESSAGE_MAX = 64 << 10, /* bytes of a command */
    GT_MONITOR_WORDS_MAX = 8,          /* of a line */
    GT_MONITOR_CLIENTS_MAX = 32,
};

#define GT_MONITOR_PROMPT "(guesttrace) "

/* A line of words, without its newline; it is changed. Its output; or an error, and nothing is
 * added. Lines of output end with newlines. */
int gt_monitor_hmp(char *line, struct gt_monitor_text *out, struct gt_trace_error *err);

/* The greeting, with its newline. */
void gt_monitor_greet(struct gt_monitor_text *out);
/* A command from its brace on: its answer, with its newline. How many bytes it takes, or -1 where
 * it is no JSON. */
ssize_t gt_monitor_qmp(const char *text, size_t n, struct gt_monitor_text *out);

struct gt_monitor_client {
    size_t fill;                /* of `in`: what is not answered yet */
    size_t scanned;             /* of these, known to hold no end of the first message */
    unsigned depth;             /* there: brackets that are open */
    bool quoted, escaped;       /* there: in a string, behind a backslash */
    bool dropping;              /* up to the next newline nothing is read */
    bool ended;                 /* it sends nothing more */
    struct gt_monitor_text out; /* to be sent */
    size_t sent;                /* of it */
    char in[GT_MONITOR_MESSAGE_MAX];
};

/* Answers what is at hand, until there is an answer to be sent. */
void gt_monitor_client_work(struct gt_monitor_client *c);

/* socket.c: a listening socket of mode 0600 in place of a socket that nobody listens at,
 * or of nothing. What was made is told, to be removed. GT_TRACE_E_EXISTS (a process listens there,
 * or it is no socket), GT_TRACE_E_RANGE (the name is too long), GT_TRACE_E_NOT_FOUND,
 * GT_TRACE_E_IO. */
struct gt_monitor_socket {
    int fd;
    char *path;
    dev_t device;
    ino_t inode;
};
int gt_monitor_listen(struct gt_monitor_socket *s, const char *path, struct gt_trace_error *err);
/* Closes it; removes the name, if `remove` and it is still this socket's. */
void gt_monitor_unlisten(struct gt_monitor_socket *s, bool remove);

#endif
