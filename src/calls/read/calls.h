/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording of calls, opened for reading: what ran (tasks, processes, functions, marks, facts)
 * and its calls, one after the other.
 *
 * A recording is a compact file, a uftrace directory (ours or one that uftrace itself recorded), or
 * an etrace stream with its programs. After it is open, all look the same. Readers are consumers of
 * one of two passes:
 *
 *   gt_calls_walk   all calls in order of time, on one thread, from any time on
 *   gt_calls_scan   each task's calls in their order, tasks and stretches of time side by side on
 *                   all processors
 *
 * Both know each task's stack at every moment. A window (struct gt_calls_window) chooses calls for
 * both; a consumer sees a window as if nothing had run outside it.
 *
 * An open recording does not change: several threads may read it. Indexes of tasks, processes and
 * functions are dense, from 0.
 */
#ifndef GT_CALLS_READ_CALLS_H
#define GT_CALLS_READ_CALLS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_call;
struct gt_calls;
struct gt_base_call_value; /* base/call_value.h */
struct gt_base_call_value_name;
struct gt_filter_set;
struct gt_text;
struct gt_value_list; /* recording/values/payload.h */
struct gt_value_item;
struct gt_value_spec; /* recording/values/spec.h */
struct gt_values;

struct gt_calls_options {
    const int *of_etrace; /* a descriptor of a compact file that was made of an etrace stream, which
                           * is read in place of the path; NULL: none. The caller closes it */
    struct gt_error_notices notices; /* about damage that is skipped, and the like; on any thread,
                                      * one at a time, also during passes */
    bool written; /* others may be writing it: of what may only be not there yet there
                   * are no notices */
};

/* GT_E_NOT_FOUND, GT_E_IO, GT_E_NOMEM, GT_E_FORMAT (no recording of calls, or a damaged text file;
 * err names the file and the line or offset). `o` may be NULL. A file or directory that was cut
 * while it was written is opened as far as it is whole; a notice reports it. */
int gt_calls_open(const char *path, const struct gt_calls_options *o, struct gt_calls **out,
                  struct gt_error *err);
void gt_calls_close(struct gt_calls *c); /* NULL is fine */

/* ---- what ran ------------------------------------------------------------------------------ */

/* A name that a task has from a time on. */
struct gt_calls_name {
    uint64_t time;
    const char *name;
};

struct gt_calls_task {
    uint32_t id;                       /* tid: TID.dat */
    uint32_t process;                  /* index of the process that it belongs to at first */
    const char *name;                  /* the last one; "" where it has none */
    const struct gt_calls_name *names; /* in order of time, the first included */
    size_t n_names;
    uint64_t start;                 /* when it appears in task.txt */
    uint32_t guest_pid, guest_tgid; /* the thread of a machine's Linux; 0: not known */
};

struct gt_calls_process {
    uint32_t pid;
    const char *exename; /* path of its (last) program */
    uint64_t start;
};

/* A function is a symbol of a module, or, where there is none, an address. */
struct gt_calls_function {
    const char *name;   /* of an address without a symbol: "<1a2b>", as uftrace prints it */
    const char *module; /* path of its file; "" where it is in none */
    uint64_t address;   /* in the module; of an address without a symbol, the address */
    uint64_t size;      /* bytes, up to the next symbol; 0: not known */
    const char *file;   /* source file; NULL: not known */
    uint32_t line;
    const char *lines; /* "10-20,30": all of them; NULL: not known */
    bool is_address;   /* there is no symbol */
    bool is_plt;       /* the stub of a library function */
    bool is_handler;   /* interrupts, exceptions, system calls or signals have begun here */
};

/* A line that a machine's console printed. */
struct gt_calls_mark {
    uint64_t time;
    const char *text;
};

size_t gt_calls_n_tasks(const struct gt_calls *c);
const struct gt_calls_task *gt_calls_task(const struct gt_calls *c, uint32_t index);
/* Sets chosen[i] of the task whose id is that number, or else of those with a name, at any time,
 * that fits the glob; how many there are. */
size_t gt_calls_choose_tasks(const struct gt_calls *c, const char *text, bool *chosen);
size_t gt_calls_n_processes(const struct gt_calls *c);
const struct gt_calls_process *gt_calls_process(const struct gt_calls *c, uint32_t index);
/* Functions appear while calls are read: the number may grow until a pass has ended; a function
 * keeps its index and its place in memory. Thread-safe. Names are as in the symbol files: mangled.
 */
size_t gt_calls_n_functions(const struct gt_calls *c);
const struct gt_calls_function *gt_calls_function(const struct gt_calls *c, uint32_t index);
/* In order of time. */
const struct gt_calls_mark *gt_calls_marks(const struct gt_calls *c, size_t *n);
/* The name of an event (enum gt_uftrace_event); NULL: it has none. */
const char *gt_calls_event_name(const struct gt_calls *c, uint32_t id);

enum gt_calls_form { GT_CALLS_COMPACT, GT_CALLS_DIRECTORY, GT_CALLS_ETRACE };

/* Facts about the recording. Texts are never NULL; "" where not known. */
struct gt_calls_facts {
    enum gt_calls_form form;
    unsigned major, minor; /* GT_CALLS_COMPACT: version of the format */
    const char *path;
    const char *command, *exename, *version, *cpu, *host; /* info */
    bool has_exit_status;
    int exit_status;      /* as wait() gives it */
    uint64_t first, last; /* times of the first and the last record; 0, 0: no records */
    uint64_t records;
    uint64_t bytes;        /* on the disk, all of it */
    uint64_t record_bytes; /* of the records alone */
    bool incomplete;       /* cut, or still being written */
};
const struct gt_calls_facts *gt_calls_facts(const struct gt_calls *c);
/* True for an EXIT of a call that did not return: its task or the recording ended in it. */
bool gt_calls_is_open(const struct gt_calls *c, const struct gt_call *e);
/* When the task's calls first ended so, as the recording says; UINT64_MAX: never. An earlier EXIT
 * is one of these only where its flags say so. */
uint64_t gt_calls_first_end(const struct gt_calls *c, uint32_t task);
/* The text of one of the recording's text files (GT_STATS_FILE and others); NULL: it has none. The
 * caller frees it. */
char *gt_calls_text(const struct gt_calls *c, const char *name, size_t *size);

/* ---- calls --------------------------------------------------------------------------------- */

enum gt_call_kind {
    GT_CALL_ENTRY,
    GT_CALL_EXIT,
    GT_CALL_EVENT, /* `function` is the event's id, not an index */
    GT_CALL_LOST,  /* records were lost here; `function`: how many, 0: not known */
    /* A scan only: a stretch of time ends here and the call goes on in another one. It adds to the
     * call's self time and is not an end. */
    GT_CALL_SPLIT,
    GT_CALL_VCPU, /* the task runs on the vCPU `function` from here on, until it is suspended */
};

enum gt_call_flag {
    GT_CALL_RECURSIVE = 1, /* ENTRY, EXIT: the function is open further out in the same task */
    /* ENTRY: it began before the window (`self`: how long before); EXIT: it goes on after it */
    GT_CALL_CLIPPED = 2,
    GT_CALL_UNFINISHED = 4, /* EXIT: the recording ends before the call does */
    GT_CALL_OPEN = 16,      /* EXIT: filters end the call here, which has not returned */
    GT_CALL_PART = 8,       /* EXIT in a scan: it began in another stretch: `self` is a part */
};

/* One event. That a task was suspended is a call as any other, of the function "linux:schedule"
 * (or "linux:schedule (pre-empted)"), which belongs to no module: gt_call_suspends. Readers that
 * sum up take times that ran (gt_call_ran), and leave these calls out. */
struct gt_call {
    uint64_t time;
    /* ENTRY, EVENT, LOST: time; EXIT, SPLIT: when the call began, or the window if that was later
     */
    uint64_t begin;
    /* EXIT, SPLIT: time spent in the function itself, in the window. The sum over all events of one
     * call is its self time. */
    int64_t self;
    /* EXIT, SPLIT: how long of it the task was suspended, in the window, in the function or what it
     * called; the sum over all events of one call is all of it. 0 for gt_call_suspends, and for all
     * in a window of `wall`. `self` has none of it. */
    uint64_t slept;
    uint32_t task;     /* index */
    uint32_t function; /* index */
    uint32_t depth;    /* of the call, from 0; of an EVENT: how many calls are open */
    uint8_t kind;      /* enum gt_call_kind */
    uint8_t flags;     /* enum gt_call_flag */
};

/* The indexes of "linux:schedule" and "linux:schedule (pre-empted)", in every recording. */
enum { GT_CALLS_SCHEDULE, GT_CALLS_PREEMPTED };

/* True: no function; the task is suspended. */
static inline bool gt_call_suspends(uint32_t function)
{
    return function <= GT_CALLS_PREEMPTED;
}

/* Of an EXIT that is not a GT_CALL_PART: how long the call ran, with what it called. In a window of
 * `wall` how long it took. Of a part, time suspended in others is still in it. */
static inline uint64_t gt_call_ran(const struct gt_call *e)
{
    return e->time - e->begin - e->slept;
}

/* False: gt_calls_is_open is; `first_end` is gt_calls_first_end of the task. */
static inline bool gt_call_may_be_open(const struct gt_call *e, uint64_t first_end)
{
    return e->kind == GT_CALL_EXIT &&
           (e->time >= first_end || e->flags & (GT_CALL_UNFINISHED | GT_CALL_OPEN));
}

/* Of an EXIT: GT_CALL_OPEN, GT_CALL_UNFINISHED. */
static inline unsigned gt_call_end_flags(const struct gt_calls *c, const struct gt_call *e)
{
    return (e->flags & GT_CALL_UNFINISHED) | (gt_calls_is_open(c, e) ? GT_CALL_OPEN : 0);
}

/* An open call. */
struct gt_call_frame {
    uint64_t
        begin; /* in a batch as that of struct gt_call; in gt_calls_open_at always the true one */
    uint32_t function;
    bool recursive;
};

/* Which calls a pass gives. {0} chooses all. */
struct gt_calls_window {
    uint64_t from, to; /* times, both included; to 0: no end. Calls that are open at `from` have an
                        * ENTRY there, those open at `to` an EXIT, with GT_CALL_CLIPPED */
    const bool *tasks; /* by index; NULL: all */
    uint32_t depth;    /* calls less deep than that, from 1; 0: all. The others' time is that of
                        * the deepest one that is shown */
    /* ns: only calls that took as long, in the window and with the time in which the task was
     * suspended; time of others is their caller's own. One that never ended took until the
     * recording's end. */
    uint64_t min_time;
    /* The time in which a task was suspended is time of its calls: `slept` is 0, and readers that
     * sum up have gt_call_suspends as a function. Where depth or min_time hide it, it is self time
     * of its caller. */
    bool wall;
    /* NULL: none. Filters are applied to the whole recording, the window to what they leave: a
     * call's depth counts calls that are left, and time of hidden calls is their caller's own.
     * Which functions patterns have matched is known when the pass has ended. */
    const struct gt_filter_set *filter;
};

/* Marks of the window (NULL: all), in order of time: the first one, and how many. */
const struct gt_calls_mark *gt_calls_marks_in(const struct gt_calls *c,
                                              const struct gt_calls_window *w, size_t *n);

/* Calls in order of time; of the same time, as uftrace has them: the task with the lower index
 * first. Two things come later than their time says: ENTRYs of calls that were open at `from`, of a
 * task whose records then lie far back (a compact file): it appears when it wakes up; and at the
 * end the EXITs of calls that never ended, with the time of their task's last record. `call`
 * returns 0, or anything else to end the walk: that is returned. Errors of gt_calls_scan. Memory is
 * bounded by tasks and depth, not by calls. */
int gt_calls_walk(struct gt_calls *c, const struct gt_calls_window *w,
                  int (*call)(void *self, const struct gt_call *e), void *self,
                  struct gt_error *err);
/* The last pass has given something: its window is not empty. */
bool gt_calls_gave(const struct gt_calls *c);
/* In a walk's callback: the calls that the event's task has open, outermost first; an ENTRY's own
 * is not there yet (where it is CLIPPED, it is), an EXIT's is. Valid until the callback returns. */
const struct gt_call_frame *gt_calls_open_at(const struct gt_calls *c, uint32_t task, size_t *n);

/* In a walk's callback: the values of the event: of an ENTRY its arguments, of an EXIT what the
 * function has returned. NULL: it has none (an ENTRY that is CLIPPED never has). Valid until the
 * callback returns. */
const struct gt_value_list *gt_calls_values_at(const struct gt_calls *c);

/* What the values of a function's calls are; NULL: the recording does not say. */
const struct gt_value_spec *gt_calls_value_spec(const struct gt_calls *c, uint32_t function);
/* All that it says of values: enumerations, too. Never NULL. */
const struct gt_values *gt_calls_values(const struct gt_calls *c);
/* What the event's values are, as many as it has; where the recording does not say it, words in
 * hex, in `unknown`, of GT_VALUES_MOST. */
const struct gt_value_item *gt_calls_value_items(const struct gt_calls *c, const struct gt_call *e,
                                                 const struct gt_value_list *list,
                                                 struct gt_value_item *unknown);
enum { GT_CALLS_VALUE_NAME = 64 };
/* The name of an event's value at index i: the parameter's, else as uftrace's "arg1", "retval";
 * letters, digits and "_.>-" only. */
void gt_calls_value_name(const struct gt_value_item *item, size_t i, bool entry,
                         char out[GT_CALLS_VALUE_NAME]);
/* The value of that name of a call of the function, which had these arguments and that result
 * (NULL: not known). False: there is none, or it was not read. */
bool gt_calls_get_value(const struct gt_calls *c, uint32_t function,
                        const struct gt_value_list *arguments, const struct gt_value_list *result,
                        const struct gt_base_call_value_name *name, struct gt_base_call_value *out);
/* Appends values of an ENTRY as "name=value, name=value", the value of an EXIT as "value". */
void gt_calls_show_values(const struct gt_calls *c, const struct gt_call *e,
                          const struct gt_value_list *list, struct gt_text *out);

/* Some events of one task. */
struct gt_calls_batch {
    uint32_t task;
    /* Of a stretch of this task: `open` are the calls open before it; n is 0. */
    bool first;
    const struct gt_call_frame *open; /* outermost first; `first` only */
    size_t n_open;
    const struct gt_call *call;
    size_t n;
    /* Of the last one, as gt_calls_values_at; NULL: none has. An ENTRY that min_time holds back
     * until another stretch, or a filter, has none. */
    const struct gt_value_list *values;
};

/* A consumer of a scan. Each worker thread has a share of its own. */
struct gt_calls_consumer {
    void *(*share)(void *self);                                /* makes one; NULL: no memory */
    int (*batch)(void *share, const struct gt_calls_batch *b); /* below 0 ends the scan */
    int (*merge)(void *self, void *share); /* on the caller's thread; frees the share, also after
                                            * an error (self NULL: only frees) */
};

/* A task's batches come in order within a stretch; stretches in any order, on any thread.
 * `threads` 0: as many as there are processors. Damaged records are left out, with all later ones
 * of their segment or file: a notice names the file and the offset. GT_E_IO, GT_E_NOMEM,
 * GT_E_UNSUPPORTED (a compact file with values of arguments), and what callbacks return. */
int gt_calls_scan(struct gt_calls *c, const struct gt_calls_window *w,
                  const struct gt_calls_consumer *consumer, void *self, unsigned threads,
                  struct gt_error *err);

#endif
