/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Trace events: which there are, which are on, and where they go. What generated code uses is in
 * guesttrace/events.h.
 *
 * Patterns are globs: `*` is any characters, `?` any one. The functions may be called from every
 * thread, not from signal handlers. They need no initialisation and no shutdown: buffers, the
 * writer thread and the trace file come to be with the first event that needs them, and what is
 * left in buffers is written when the program ends through exit().
 */
#ifndef GUESTTRACE_CONTROL_H
#define GUESTTRACE_CONTROL_H

#include "guesttrace/error.h"
#include "guesttrace/events.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Events. A pointer to an event is good as long as the object that it is in is loaded; inside a
 * callback it is. */

/* The event of that name: the first registered, if several groups have one. NULL: there is none. */
struct gt_trace_event *gt_trace_find(const char *name);

/* Calls `each` for the events of the group whose names match, in the order in which they were
 * registered, until it returns something else than 0, which is returned. NULL is any group, any
 * name. `each` may call the functions here. */
int gt_trace_each(const char *group, const char *pattern,
                  int (*each)(struct gt_trace_event *event, void *context), void *context);

bool gt_trace_match(const char *pattern, const char *name);
bool gt_trace_is_pattern(const char *name); /* has a `*` or a `?` */

/* Static state: declared so that it can be switched on. Dynamic: it is on. */
bool gt_trace_is_static(const struct gt_trace_event *event);
bool gt_trace_is_on(const struct gt_trace_event *event);

/* Switches one event. GT_TRACE_E_UNSUPPORTED for one without static state. */
int gt_trace_switch(struct gt_trace_event *event, bool on, struct gt_trace_error *error);

/* Switches the events that match, and those that are registered later and match. The number of
 * those that are registered now; for a name without `*` and `?` GT_TRACE_E_NOT_FOUND and
 * GT_TRACE_E_UNSUPPORTED. */
int gt_trace_switch_all(const char *pattern, bool on, struct gt_trace_error *error);

/* Writes the names that match (NULL: all) into the file, one a line. */
void gt_trace_list(FILE *file, const char *pattern);

/* Which backends events that are on go to: GT_TRACE_* bits, by default all that they were
 * generated for. */
void gt_trace_set_backends(unsigned backends);
unsigned gt_trace_backends(void);

/* Options, as one word of a command line. */

/* [[enable=]PATTERN][,events=FILE][,file=FILE][,...], from left to right; a comma in a value is
 * written twice. May be called again and again: what a later option does not name stays as it is.
 *
 *   enable=PATTERN   switches on, with a leading `-` off; `help`: lists the names into `list`
 *   events=FILE      the same for each line of a file; `#` begins a comment
 *   file=FILE        gt_trace_file_set()
 *   log=FILE         gt_trace_log_set()
 *   prefix=on|off    gt_trace_log_prefix()
 *   backends=A+B     gt_trace_set_backends(): names, joined by `+`
 *   policy=NAME      gt_trace_file_policy(): wait, drop, overwrite
 *   buffer=SIZE      gt_trace_file_buffer(): bytes; K, M
 *   threads=on|off   gt_trace_file_threads()
 *   crash=on|off     gt_trace_file_crash()
 *
 * 1 if names were listed: programs end here with success. Else 0 or an error; what stands left of
 * what was refused has been done. A name that does not exist or cannot be traced is a line in
 * `warnings` (NULL: nothing is said), no error. */
int gt_trace_parse(const char *option, FILE *list, FILE *warnings, struct gt_trace_error *error);

/* An events file alone. */
int gt_trace_read_events(const char *path, FILE *warnings, struct gt_trace_error *error);

/* The log backend: a line for each event, "NAME TEXT", by a write of its own before the event's
 * function returns. */

/* Where to: a file that is created or appended to; NULL: standard error, which is the default. */
int gt_trace_log_set(const char *path, struct gt_trace_error *error);
/* Whether all lines so far were written: an error is one of writing, and reported once. */
int gt_trace_log_flush(struct gt_trace_error *error);
/* "TID@SECONDS.MICROSECONDS:" before each line, time of day; off by default. */
void gt_trace_log_prefix(bool on);

/* The simple backend. Each thread has a buffer of its own; a writer thread collects them, in order
 * of time, in a simpletrace file, which consists of whole records. What is not in the file yet when
 * the process is killed is lost: at most what was recorded in the last GT_TRACE_PERIOD_MS (with the
 * policy `overwrite` all that was not dumped). A child of fork() records into a file of its own,
 * the name with a dot and its process id behind it, which is created when it records something. */

#define GT_TRACE_PERIOD_MS 20

enum gt_trace_policy {
    GT_TRACE_WAIT,      /* a thread whose buffer is full waits for the writer: nothing is lost */
    GT_TRACE_DROP,      /* it goes on; a record says how many events were lost there */
    GT_TRACE_OVERWRITE, /* nothing is written until gt_trace_file_dump(), the newest events are kept
                         */
};

/* Another file, by default trace-PID; what is in the buffers still goes to the old one. The file is
 * created at once and opened for the next records, also if the backend is paused. */
int gt_trace_file_set(const char *path, struct gt_trace_error *error);
/* Pauses and goes on: while paused, no event reaches the simple backend. */
int gt_trace_file_enable(bool on, struct gt_trace_error *error);
/* Returns when all that was recorded before is in the file (for the policy `overwrite`: dumps). An
 * error is one of writing, told once. */
int gt_trace_file_flush(struct gt_trace_error *error);
/* Writes what the buffers hold into a new file, and empties them. NULL: appends it to the trace
 * file. */
int gt_trace_file_dump(const char *path, struct gt_trace_error *error);

struct gt_trace_file_status {
    bool on;
    bool open; /* created already */
    enum gt_trace_policy policy;
    uint64_t events;  /* recorded and written so far, by this process */
    uint64_t dropped; /* lost, for whatever reason */
    uint64_t bytes;   /* of the file */
    char path[4096];
};
void gt_trace_file_status(struct gt_trace_file_status *out);

/* Bytes of each thread's buffer, from 64 KiB to 1 GiB, by default 2 MiB; for buffers to come. */
int gt_trace_file_buffer(size_t size, struct gt_trace_error *error);
/* Policy and threads are chosen before the first event: later GT_TRACE_E_UNSUPPORTED. */
int gt_trace_file_policy(enum gt_trace_policy policy, struct gt_trace_error *error);
/* Writes the thread's id with each event: a file version that only guesttrace reads. */
int gt_trace_file_threads(bool on, struct gt_trace_error *error);
/* Flushes (dumps) also, and writes the log, when SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP,
 * SIGSYS or SIGTERM ends the process: a handler is installed where there is none, and the signal
 * raised again behind it. */
int gt_trace_file_crash(bool on, struct gt_trace_error *error);

/* The ftrace backend finds tracefs in /proc/mounts; this names the folder (of trace_marker). */
int gt_trace_ftrace_set(const char *folder, struct gt_trace_error *error);

#ifdef __cplusplus
}
#endif

#endif
