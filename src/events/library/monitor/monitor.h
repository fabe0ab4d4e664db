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
#include "events/library/monitor/scan.h"
#include "events/library/monitor/text.h"

#include <guesttrace/error.h>
#include <sys/types.h>

enum {
    GT_MONITOR_MESSAGE_MAX = 64 << 10, /* bytes of a message */
    GT_MONITOR_WORDS_MAX = 8,          /* words of a line */
    GT_MONITOR_CLIENTS_MAX = 32,
};

#define GT_MONITOR_PROMPT "(guesttrace) "

/* Executes a line of words without its newline; modifies `line`. Appends the output, lines with
 * newlines; on error appends nothing. */
int gt_monitor_hmp(char *line, struct gt_monitor_text *out, struct gt_trace_error *err);
/* The line begins with the name of one of its commands, beside `help`. */
bool gt_monitor_hmp_knows(const char *line);
/* How its commands are written, joined by " | ". */
void gt_monitor_hmp_usage(struct gt_monitor_text *out);

/* Commands of QMP beside those of trace events: of who has a socket of his own (qemu/support). */
enum { GT_MONITOR_PARAMETERS = 3, GT_MONITOR_ARGUMENT = 4096 };
struct gt_monitor_parameter {
    const char *name;
    enum gt_monitor_json_type type; /* GT_MONITOR_JSON_TRUE: a boolean */
    bool optional;
};
struct gt_monitor_argument {
    bool given, truth;
    char text[GT_MONITOR_ARGUMENT];
};
struct gt_monitor_command {
    const char *name;
    struct gt_monitor_parameter parameters[GT_MONITOR_PARAMETERS];
    /* Adds the answer, as JSON. */
    int (*run)(void *self, const struct gt_monitor_command *c, const struct gt_monitor_argument *a,
               struct gt_monitor_text *out, struct gt_trace_error *err);
};
struct gt_monitor_more {
    const struct gt_monitor_command *commands;
    size_t n;
    /* Runs a line of human-monitor-command; gt_monitor_hmp is one for nothing more. */
    int (*line)(void *self, char *line, struct gt_monitor_text *out, struct gt_trace_error *err);
    void *self;
};

/* Appends the greeting, with its newline. */
void gt_monitor_greet(struct gt_monitor_text *out);
/* Executes the command that begins with a brace at `text` and appends the answer with its newline.
 * NULL: there are no more commands. Returns the command's bytes, or -1 if it is not JSON. */
ssize_t gt_monitor_qmp(const struct gt_monitor_more *more, const char *text, size_t n,
                       struct gt_monitor_text *out);
/* Appends an error that belongs to no command. `why` needs no escapes. */
void gt_monitor_qmp_refuse(struct gt_monitor_text *out, const char *why);

struct gt_monitor_client {
    size_t fill;                 /* bytes of `in` that are not answered yet */
    struct gt_monitor_scan scan; /* of the first message */
    bool dropping;               /* input is discarded up to the next newline */
    bool ended;                  /* the client has closed its side */
    struct gt_monitor_text out;  /* bytes to be sent */
    size_t sent;                 /* bytes of `out` that were sent */
    char in[GT_MONITOR_MESSAGE_MAX];
};

/* Executes the messages in `in`, until there is an answer to send. */
void gt_monitor_client_work(struct gt_monitor_client *c);

/* socket.c: a listening socket of mode 0600. A socket at the path without a listener is
 * replaced. `device` and `inode` identify the new file, for its removal. GT_TRACE_E_EXISTS (a
 * process listens there, or the file is not a socket), GT_TRACE_E_RANGE (the name is too long),
 * GT_TRACE_E_NOT_FOUND, GT_TRACE_E_IO. */
struct gt_monitor_socket {
    int fd;
    char *path;
    dev_t device;
    ino_t inode;
};
int gt_monitor_listen(struct gt_monitor_socket *s, const char *path, struct gt_trace_error *err);
/* Closes the socket; with `remove`, removes its file if that is still this socket's. */
void gt_monitor_unlisten(struct gt_monitor_socket *s, bool remove);

#endif
