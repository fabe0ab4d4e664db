/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Control of trace events: list them, switch them, and choose where they go. guesttrace/events.h
 * has the interface of generated code.
 *
 * Patterns are globs: `*` matches any characters, `?` any one character. The functions may be
 * called from every thread, but not from signal handlers. They need no initialisation and no
 * shutdown: buffers, the writer thread and the trace file are created with the first event that
 * needs them, and the buffers are written when the program ends through exit().
 */
#ifndef GUESTTRACE_CONTROL_H
#define GUESTTRACE_CONTROL_H

#include "guesttrace/error.h"
#include "guesttrace/events.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Events. A pointer to an event is valid as long as the shared object that defines it is loaded,
 * and inside a callback. */

/* Finds an event by name: the first one registered, if several groups have it. NULL: not found. */
struct gt_trace_event *gt_trace_find(const char *name);

/* Calls `each` for the events of the group whose names match, in the order of registration, until
 * it returns a value other than 0, which is returned. NULL matches any group, any name. `each` may
 * call the functions of this header. */
int gt_trace_each(const char *group, const char *pattern,
                  int (*each)(struct gt_trace_event *event, void *context), void *context);

bool gt_trace_match(const char *pattern, const char *name);
bool gt_trace_is_pattern(const char *name); /* true if it has a `*` or a `?` */

/* is_static: the event can be switched, it is not declared `disable`. is_on: it is on now. */
bool gt_trace_is_static(const struct gt_trace_event *event);
bool gt_trace_is_on(const struct gt_trace_event *event);

/* Switches one event. GT_TRACE_E_UNSUPPORTED: it is declared `disable`. */
int gt_trace_switch(struct gt_trace_event *event, bool on, struct gt_trace_error *error);

/* Switches the matching events, also those that are registered later. Returns the number of
 * matching events that are registered now. For a name without `*` and `?`: GT_TRACE_E_NOT_FOUND,
 * GT_TRACE_E_UNSUPPORTED. */
int gt_trace_switch_all(const char *pattern, bool on, struct gt_trace_error *error);

/* Writes the matching names (NULL: all) to the file, one a line. */
void gt_trace_list(FILE *file, const char *pattern);

/* The backends that enabled events are sent to: GT_TRACE_* bits; the default is all backends that
 * the events were generated for. */
void gt_trace_set_backends(unsigned backends);
unsigned gt_trace_backends(void);

/* Options, in one word of a command line. */

/* [[enable=]PATTERN][,events=FILE][,file=FILE][,...], from left to right; a comma in a value is
 * doubled. May be called repeatedly: settings that a later option does not name are unchanged.
 * enable=PATTERN switches on, with a leading `-` off; `help`: lists the names into `list`
 * events=FILE the same for each line of a file; `#` begins a comment file=FILE gt_trace_file_set()
 * log=FILE gt_trace_log_set() prefix=on|off gt_trace_log_prefix() backends=A+B
 * gt_trace_set_backends(): names, joined by `+` policy=NAME gt_trace_file_policy(): wait, drop,
 * overwrite buffer=SIZE gt_trace_file_buffer(): bytes; K, M threads=on|off gt_trace_file_threads()
 * crash=on|off gt_trace_file_crash() Returns 1 if names were listed: programs then end with
 * success. Else returns 0 or an error; the settings to the left of an error have taken effect. A
 * name that does not exist or cannot be traced is not an error, but a line in `warnings` (NULL: no
 * warnings). */
int gt_trace_parse(const char *option, FILE *list, FILE *warnings, struct gt_trace_error *error);

/* Reads an events file, as the option events=FILE. */
int gt_trace_read_events(const char *path, FILE *warnings, struct gt_trace_error *error);

/* The log backend writes a line for each event, "NAME TEXT", with one write before the event's
 * function returns. */

/* Sets the log file, which is created or appended to; NULL: standard error, the default. */
int gt_trace_log_set(const char *path, struct gt_trace_error *error);
/* Checks whether all lines so far were written: reports a write error, once. */
int gt_trace_log_flush(struct gt_trace_error *error);
/* Writes "TID@SECONDS.MICROSECONDS:" before each line, in time of day; off by default. */
void gt_trace_log_prefix(bool on);

/* The simple backend. Each thread has a buffer of its own; a writer thread collects the records in
 * order of time into a simpletrace file, which always consists of whole records. If the process is
 * killed, records that are not in the file yet are lost: at most the records of the last
 * GT_TRACE_PERIOD_MS (with the policy `overwrite`: all that were not dumped). A child of fork()
 * records into a file of its own, whose name ends in a dot and the child's process id; it is
 * created with the child's first record. */

#define GT_TRACE_PERIOD_MS 20

enum gt_trace_policy {
    GT_TRACE_WAIT,      /* a thread whose buffer is full waits for the writer: nothing is lost */
    GT_TRACE_DROP,      /* the thread continues; a record has the number of events lost there */
    GT_TRACE_OVERWRITE, /* nothing is written until gt_trace_file_dump(); buffers keep the newest
                           events */
};

/* Sets the trace file; the default is trace-PID. Records in the buffers still go to the old file.
 * The new file is created at once, even if the backend is paused. */
int gt_trace_file_set(const char *path, struct gt_trace_error *error);
/* Pauses or resumes: while paused, no event reaches the simple backend. */
int gt_trace_file_enable(bool on, struct gt_trace_error *error);
/* Returns when all records before the call are in the file (with the policy `overwrite`: dumps).
 * Reports a write error, once. */
int gt_trace_file_flush(struct gt_trace_error *error);
/* Writes the records in the buffers to a new file, and empties the buffers. NULL: appends them to
 * the trace file. */
int gt_trace_file_dump(const char *path, struct gt_trace_error *error);

struct gt_trace_file_status {
    bool on;
    bool open; /* the file was created */
    enum gt_trace_policy policy;
    uint64_t events;  /* events written so far by this process */
    uint64_t dropped; /* events lost, for any reason */
    uint64_t bytes;   /* bytes of the file */
    char path[4096];
};
void gt_trace_file_status(struct gt_trace_file_status *out);

/* Sets the size of each thread's buffer, from 64 KiB to 1 GiB (default: 2 MiB), for new buffers. */
int gt_trace_file_buffer(size_t size, struct gt_trace_error *error);
/* Set the policy before the first event; later: GT_TRACE_E_UNSUPPORTED. */
int gt_trace_file_policy(enum gt_trace_policy policy, struct gt_trace_error *error);
/* Writes the thread's id with each event, in a file version that only guesttrace reads. Call it
 * before the first event; later: GT_TRACE_E_UNSUPPORTED. */
int gt_trace_file_threads(bool on, struct gt_trace_error *error);
/* Flushes (dumps) the trace and the log also when SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT,
 * SIGTRAP, SIGSYS or SIGTERM ends the process: installs a handler for each signal that has none;
 * the handler raises the signal again. */
int gt_trace_file_crash(bool on, struct gt_trace_error *error);

/* Sets the directory of trace_marker for the ftrace backend; the default is found in /proc/mounts.
 *
 */
int gt_trace_ftrace_set(const char *folder, struct gt_trace_error *error);

#ifdef __cplusplus
}
#endif

#endif
