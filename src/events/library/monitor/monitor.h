/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The monitor's parts: the thread with its socket (monitor.c, socket.c), the input of a client
 * (client.c), and the two protocols on the same socket (hmp.c, qmp.c).
 *
 * A client is greeted with a line of JSON, as QMP clients expect. A message that begins with a
 * brace is a QMP command; its answer is a line of JSON. Any other message is a line of words, as in
 * QEMU's human monitor; its answer is lines and a prompt.
 */
#ifndef GT_EVENTS_LIBRARY_MONITOR_MONITOR_H
#define GT_EVENTS_LIBRARY_MONITOR_MONITOR_H

#include "events/library/monitor/json.h"

#include <guesttrace/error.h>
#include <sys/types.h>

enum {
    GT_MONITOR_MESSAGE_MAX = 64 << 10, /* bytes of a message */
    GT_MONITOR_WORDS_MAX = 8,          /* words of a line */
    GT_MONITOR_CLIENTS_MAX = 32,
};

#define GT_MONITOR_PROMPT "(guesttrace) "

/* What a command answers: a text, or an error. */
enum { GT_MONITOR_ANSWER = 1024 };
struct gt_events_monitor_answer {
    bool failed;
    bool of_events; /* it is of a command of trace events, with lines of its own before it */
    char text[GT_MONITOR_ANSWER];
};

/* Set the answer. A longer text is cut. */
void gt_events_monitor_succeed(struct gt_events_monitor_answer *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void gt_events_monitor_fail(struct gt_events_monitor_answer *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A command beside the ones for trace events, registered by the owner of a socket or FIFO
 * (qemu/support). In QMP it is "guesttrace-NAME", and returns {"answer": TEXT}. */
struct gt_events_monitor_command {
    const char *name;
    const char *usage;    /* what follows the name, for people: "[FILE]"; NULL: nothing follows */
    const char *argument; /* the name of that in QMP; NULL: nothing follows */
    bool optional;        /* it may be left out */
    /* `args`: what follows, without blanks around it; "": nothing. */
    void (*run)(void *self, const char *args, struct gt_events_monitor_answer *answer);
    bool verbatim; /* what follows begins after one blank, and is as it was written */
};
struct gt_events_monitor_table {
    const struct gt_events_monitor_command *commands; /* until a NULL name */
    void *self;                                       /* passed to them */
};

enum { GT_MONITOR_ARGUMENT = 4096 }; /* bytes of an argument in QMP, with its end */

/* Runs a command of the table, if what follows is what it takes. */
void gt_events_monitor_run_command(const struct gt_events_monitor_table *t,
                                   const struct gt_events_monitor_command *c, const char *args,
                                   struct gt_events_monitor_answer *a);
/* Runs the command of the table that a line, without its end, begins with. Modifies the line.
 * False: there is none. */
bool gt_events_monitor_run(const struct gt_events_monitor_table *t, char *line,
                           struct gt_events_monitor_answer *a);
/* Runs any command of a line, without its end: of trace events, of the table (NULL: there are no
 * more), or `help`. Modifies the line. Commands of trace events append their output, lines with
 * newlines; on error they append nothing. */
void gt_events_monitor_line(const struct gt_events_monitor_table *t, char *line,
                            struct gt_events_monitor_text *out, struct gt_events_monitor_answer *a);
/* True where a command of trace events was run, by whatever protocol: their writer may run since
 * then. */
void gt_events_monitor_note_events(void);
bool gt_events_monitor_ran_events(void);

/* Appends the greeting, with its newline. */
void gt_events_monitor_greet(struct gt_events_monitor_text *out);
/* Executes the command that begins with a brace at `text` and appends the answer with its newline.
 * `t`: as of gt_events_monitor_line. Returns the command's bytes, or -1 if it is not JSON. */
ssize_t gt_events_monitor_qmp(const struct gt_events_monitor_table *t, const char *text, size_t n,
                              struct gt_events_monitor_text *out);
/* Appends an error that belongs to no command. `why` needs no escapes. */
void gt_events_monitor_qmp_refuse(struct gt_events_monitor_text *out, const char *why);

struct gt_events_monitor_client {
    size_t fill;                        /* bytes of `in` that are not answered yet */
    struct gt_events_monitor_scan scan; /* of the first message */
    bool dropping;                      /* input is discarded up to the next newline */
    bool ended;                         /* the client has closed its side */
    struct gt_events_monitor_text out;  /* bytes to be sent */
    size_t sent;                        /* bytes of `out` that were sent */
    char in[GT_MONITOR_MESSAGE_MAX];
};

/* Executes the messages in `in`, until there is an answer to send. */
void gt_events_monitor_client_work(struct gt_events_monitor_client *c);

/* socket.c: a listening socket of mode 0600. A socket at the path without a listener is
 * replaced. `device` and `inode` identify the new file, for its removal. GT_TRACE_E_EXISTS (a
 * process listens there, or the file is not a socket), GT_TRACE_E_RANGE (the name is too long),
 * GT_TRACE_E_NOT_FOUND, GT_TRACE_E_IO. */
struct gt_events_monitor_socket {
    int fd;
    char *path;
    dev_t device;
    ino_t inode;
};
int gt_events_monitor_listen(struct gt_events_monitor_socket *s, const char *path,
                             struct gt_trace_error *err);
/* Closes the socket; with `remove`, removes its file if that is still this socket's. */
void gt_events_monitor_unlisten(struct gt_events_monitor_socket *s, bool remove);

#endif
