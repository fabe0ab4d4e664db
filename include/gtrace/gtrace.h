/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libgtrace: reads recordings of calls: guesttrace's in any form (one file, a directory) and
 * directories of uftrace.
 *
 *     struct gtrace *t;
 *     struct gtrace_error err = {.size = sizeof err};
 *     if (gtrace_open("boot.gtrace", NULL, &t, &err) != 0)
 *         fprintf(stderr, "%s\n", err.text);
 *
 * Rules of the interface:
 *
 * - Structs that a caller fills or receives begin with `size`: the caller sets it to the sizeof its
 *   compiler knew. The library reads and writes no byte behind it, and sets what it does not know
 *   to 0. Later versions add members at the end only. Structs that the library passes in arrays
 *   have no size: the call says how far apart they are (`stride`).
 * - Functions that can fail return 0 or more, or a negative enum gtrace_status; an error is one
 *   line that names the file, the line or offset, the value, and the expected form. The library
 *   never prints, never ends the process, installs no signal handler and has no global state.
 * - A struct gtrace and all texts that come from it belong to the library and live until
 *   gtrace_close, unless said otherwise. Texts are UTF-8 as far as the guest's names are, and end
 *   with a NUL.
 * - Times are ns since the recording's clock began (of a machine: of its own clock); sizes bytes.
 *   Indexes of tasks, processes and functions count from 0 and do not change while it is open.
 * - Several threads may use one struct gtrace, except what reads its calls (gtrace_walk and all
 *   below it in this file) and gtrace_close: of these one at a time.
 *
 * Guests are not trusted, so recordings are not: whatever is damaged is reported and left out.
 */
#ifndef GTRACE_GTRACE_H
#define GTRACE_GTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gtrace;

enum gtrace_status {
    GTRACE_OK = 0,
    GTRACE_E_USAGE = -1,       /* an argument is invalid */
    GTRACE_E_NOMEM = -2,       /* out of memory */
    GTRACE_E_TRUNC = -3,       /* the input ends in the middle of an item */
    GTRACE_E_FORMAT = -4,      /* the input is not what its format says */
    GTRACE_E_RANGE = -5,       /* a value is outside what the format or the library can hold */
    GTRACE_E_IO = -6,          /* the operating system refused; the message says why */
    GTRACE_E_NOT_FOUND = -7,   /* a file or a name that does not exist */
    GTRACE_E_UNSUPPORTED = -8, /* the input is understood, but cannot be handled here */
    GTRACE_E_EXISTS = -9,      /* the target exists already */
    GTRACE_E_BUSY = -10,       /* another process writes it */
};

/* Filled where a function fails; every pointer to one may be NULL. */
struct gtrace_error {
    uint32_t size;
    int32_t status; /* enum gtrace_status */
    char text[512]; /* one line without a newline */
};

/* MAJOR * 10000 + MINOR * 100 + PATCH of the library that runs. */
uint32_t gtrace_version(void);

/* ---- open ---------------------------------------------------------------------------------- */

struct gtrace_options {
    uint32_t size;
    uint32_t reserved; /* 0 */
    /* Takes a line about damage, omissions and the like; on any thread, one at a time. NULL: they
     * are ignored. */
    void (*notice)(void *user, const char *line);
    void *user;
    /* NULL, or a descriptor of a compact file that was made of an etrace stream, which is read in
     * place of `path`, its name. Its tasks are units of the stream. The caller closes it, when it
     * likes to. */
    const int *of_etrace;
};

/* 1: the path is rather a recording of calls, as its first bytes or its files say; 0: it is not, or
 * there is no such path. */
int gtrace_is_recording(const char *path);
/* When the recording was written last: ns since 1970. GTRACE_E_NOT_FOUND: there is no such path. */
int64_t gtrace_written(const char *path);

/* GTRACE_E_NOT_FOUND, GTRACE_E_IO, GTRACE_E_NOMEM, GTRACE_E_FORMAT: it is not a recording of calls,
 * or a text in it is damaged. A recording that was cut, or is being written, is opened as far as it
 * is whole. `o` may be NULL. */
int gtrace_open(const char *path, const struct gtrace_options *o, struct gtrace **out,
                struct gtrace_error *err);
void gtrace_close(struct gtrace *t); /* NULL is fine */

/* ---- what ran ------------------------------------------------------------------------------ */

enum gtrace_form { GTRACE_FILE, GTRACE_DIRECTORY, GTRACE_ETRACE };
/* What its times are. */
enum gtrace_clock {
    GTRACE_CLOCK_UNKNOWN,
    GTRACE_CLOCK_INSTRUCTIONS, /* of the guest, 1 ns each */
    GTRACE_CLOCK_HOST,
    GTRACE_CLOCK_MIXED, /* the host's; of some processes instructions */
};

struct gtrace_facts {
    uint32_t size;
    uint32_t form;                           /* enum gtrace_form */
    const char *command, *program, *version; /* the recorded run, and the recorder; "": not known */
    uint64_t first, last; /* times of the first and the last record; 0, 0: none */
    uint64_t records;
    uint64_t bytes;          /* on the disk */
    int32_t has_exit_status; /* 1: */
    int32_t exit_status;     /* as wait() gives it */
    int32_t incomplete;      /* 1: it was cut, or is being written */
    int32_t clock;           /* enum gtrace_clock */
    uint32_t major, minor;   /* GTRACE_FILE: version of the format */
    uint64_t record_bytes;   /* of `bytes`, the records alone */
    const char *path;
    const char *cpu, *host;     /* where it was recorded; "": not known */
    const char *date, *elapsed; /* as uftrace wrote them; "": not known */
};
/* The functions below that return int: 0, or GTRACE_E_RANGE: there is no such index. */
int gtrace_facts(const struct gtrace *t, struct gtrace_facts *out);

struct gtrace_task {
    uint32_t size;
    uint32_t id;      /* thread id; of a machine's call stacks a number from 1001 on */
    uint32_t process; /* index of the process it belongs to at first */
    uint32_t guest_pid, guest_tgid; /* the thread of a machine's Linux; 0: not known */
    uint32_t reserved;
    const char *name; /* the last one; "": it has none */
    uint64_t start;
    uint64_t n_names;
};
size_t gtrace_n_tasks(const struct gtrace *t);
int gtrace_task(const struct gtrace *t, uint32_t index, struct gtrace_task *out);

/* A name that a task has from a time on. */
struct gtrace_task_name {
    uint32_t size, reserved;
    uint64_t time;
    const char *name;
};
/* In order of time, the first included. */
int gtrace_task_name(const struct gtrace *t, uint32_t task, size_t index,
                     struct gtrace_task_name *out);

struct gtrace_process {
    uint32_t size;
    uint32_t pid;
    const char *program; /* path of its last program */
    uint64_t start;
};
size_t gtrace_n_processes(const struct gtrace *t);
int gtrace_process(const struct gtrace *t, uint32_t index, struct gtrace_process *out);

enum gtrace_function_flag {
    GTRACE_NO_SYMBOL = 1, /* an address; `name` is "<1a2b>" */
    GTRACE_PLT = 2,       /* the stub of a library function */
    GTRACE_HANDLER = 4,   /* interrupts, exceptions, system calls or signals have begun here */
    GTRACE_SUSPENDED = 8, /* no function: the task is suspended in such a call */
};
struct gtrace_function {
    uint32_t size;
    uint32_t flags;
    const char *name;   /* demangled */
    const char *symbol; /* as in the file */
    const char *module; /* path of its file; "": it is in none */
    uint64_t address;   /* in the module */
    uint64_t length;    /* bytes; 0: not known */
    const char *file;   /* of the source; NULL: not known */
    uint32_t line, reserved;
};
/* Functions appear while calls are read: all are there when a pass has ended. */
size_t gtrace_n_functions(const struct gtrace *t);
int gtrace_function(struct gtrace *t, uint32_t index, struct gtrace_function *out);

/* A line that a machine's console printed, or a mark of the user. */
struct gtrace_mark {
    uint32_t size, reserved;
    uint64_t time;
    const char *text;
};
size_t gtrace_n_marks(const struct gtrace *t);
int gtrace_mark(const struct gtrace *t, size_t index, struct gtrace_mark *out);

/* How often the recorder was not sure: how far not to trust the recording. Without any, and with
 * no lost records, it is exact. */
struct gtrace_anomaly {
    uint32_t size, reserved;
    const char *name;  /* "missed-return"; docs/reading-a-trace.md has them all */
    uint64_t count;    /* at least 1 */
    const char *about; /* a phrase; NULL: not known */
};
size_t gtrace_n_anomalies(const struct gtrace *t);
int gtrace_anomaly(const struct gtrace *t, size_t index, struct gtrace_anomaly *out);
/* A number that the recorder has kept: "calls", "matched", "lost_records"; 0: it has none. */
uint64_t gtrace_statistic(const struct gtrace *t, const char *name);
/* All of them, in the recorder's order: "anomaly.NAME" how often it was not sure, "rule.NAME" how
 * returns were decided that did not match their calls, "count.NAME" and others. */
struct gtrace_statistic {
    uint32_t size, reserved;
    const char *name;
    const char *value; /* a number but of "error" and "outside" */
    uint64_t number;   /* 0: it is not one */
    const char *about; /* a phrase; NULL: not known */
};
size_t gtrace_n_statistics(const struct gtrace *t);
int gtrace_statistic_at(const struct gtrace *t, size_t index, struct gtrace_statistic *out);

/* ---- filters ------------------------------------------------------------------------------- */

/* The filters of the command's options, for passes of one recording: docs/filters.md says what each
 * does. A filter changes nothing once a pass uses it, and may serve several passes, one at a time.
 */
struct gtrace_filter;

enum gtrace_filter_option {
    GTRACE_FILTER,        /* -F FUNC: only these functions and what they call */
    GTRACE_NOTRACE,       /* -N FUNC: not these and what they call; the later of -F and -N wins */
    GTRACE_CALLER_FILTER, /* -C FUNC: only calls that lead to these functions */
    GTRACE_HIDE,          /* -H FUNC: not these functions, but what they call */
    GTRACE_LOC_FILTER,    /* -L FILE[@hide]: functions of this source file, or not those */
    GTRACE_TRIGGER,       /* -T FUNC@ACTION */
    GTRACE_WHERE,         /* --where [FUNC:]CONDITION */
    GTRACE_SIZE_FILTER,   /* -Z SIZE: functions of as many bytes */
    GTRACE_DEPTH,         /* -D N: from a -F on */
    GTRACE_TIME_FILTER,   /* -t TIME, with its unit */
    GTRACE_TRACE_OFF,     /* nothing until a trigger; has no value */
};
/* `glob`: 1: FUNC is a glob, 0: a regular expression. Freed before `t` is closed. GTRACE_E_NOMEM.
 */
int gtrace_filter_new(struct gtrace *t, int glob, struct gtrace_filter **out,
                      struct gtrace_error *err);
/* GTRACE_E_USAGE: the value is not one of the option, or needs what recordings have not got; the
 * message has the place in it. GTRACE_E_NOMEM. */
int gtrace_filter_add(struct gtrace_filter *f, enum gtrace_filter_option option, const char *value,
                      struct gtrace_error *err);
/* After a pass: a line about the i-th of its patterns that no function has matched; NULL: there are
 * no more. Lives until the next call, or gtrace_filter_free. */
const char *gtrace_filter_unused(struct gtrace_filter *f, size_t i);
void gtrace_filter_free(struct gtrace_filter *f); /* NULL is fine */

/* ---- calls --------------------------------------------------------------------------------- */

/* Which calls a pass gives. { .size = sizeof } chooses all. */
struct gtrace_window {
    uint32_t size;
    uint32_t depth;    /* calls less deep than that, from 1; 0: all */
    uint64_t from, to; /* times, both included; to 0: no end */
    uint64_t min_time; /* ns: calls that took as long */
    /* Patterns with * and ?, until NULL; NULL: all. A task's name or its id; a process's program
     * has no part in it. */
    const char *const *tasks;
    /* All but gtrace_walk and gtrace_scan: functions, as NAME or MODULE:NAME, patterns as well.
     * NAME is demangled or as in the file, with its parameters or without; MODULE the file's base
     * name.
     */
    const char *const *functions;
    uint32_t wall; /* 1: times in which a task was suspended belong to its calls */
    uint32_t want; /* gtrace_calls: enum gtrace_want */
    /* NULL: none. The window is applied to what it leaves: depths count calls that are left, and
     * the time of others is their callers' own. */
    struct gtrace_filter *filter;
};
/* What such a pattern chooses of the first n tasks, or functions: sets chosen[i].
 * GTRACE_E_NOT_FOUND: none; the message has the nearest names. */
int gtrace_choose_tasks(const struct gtrace *t, const char *pattern, bool *chosen, size_t n,
                        struct gtrace_error *err);
int gtrace_choose_functions(struct gtrace *t, const char *pattern, bool *chosen, size_t n,
                            struct gtrace_error *err);

enum gtrace_kind {
    GTRACE_ENTRY,
    GTRACE_EXIT,
    GTRACE_EVENT, /* `function` is the event's id */
    GTRACE_LOST,  /* records were lost here; `function`: how many, 0: not known */
    GTRACE_SPLIT, /* a scan only: a part of the call's self time, and no end */
    GTRACE_VCPU,  /* the task runs on the vCPU `function` from here on, until it is suspended */
};
enum gtrace_flag {
    GTRACE_RECURSIVE = 1, /* the function is open further out in the same task */
    GTRACE_CLIPPED = 2,   /* it began before the window, or goes on after it */
    GTRACE_OPEN = 4,      /* it never returned: the recording, or its task, ended in it */
    GTRACE_PART = 8,      /* EXIT in a scan: `self` is a part, as of a SPLIT */
};

/* One event. An ENTRY has its time as `begin`; `self` and `slept` are of EXIT and SPLIT: time in
 * the function itself, and time in which the task was suspended, which is not in `self`. */
struct gtrace_event {
    uint64_t time, begin;
    int64_t self;
    uint64_t slept;
    uint32_t task, function, depth; /* depth from 0 */
    uint8_t kind, flags;            /* enum gtrace_kind, gtrace_flag */
    uint8_t reserved[2];
};

/* All events of the window in order of time, on the caller's thread. What `event` returns ends the
 * walk if it is not 0, and is returned. GTRACE_E_IO, GTRACE_E_NOMEM, GTRACE_E_USAGE. */
int gtrace_walk(struct gtrace *t, const struct gtrace_window *w,
                int (*event)(void *user, const struct gtrace_event *e), void *user,
                struct gtrace_error *err);

struct gtrace_frame {
    uint64_t begin;
    uint32_t function;
    uint32_t recursive;
};
/* In a walk's callback: the calls that the event's task has open, outermost first, at most `n`; an
 * ENTRY's own is not yet one, an EXIT's is. Returns how many there are. */
size_t gtrace_stack(const struct gtrace *t, uint32_t task, struct gtrace_frame *out, size_t n);

enum gtrace_value_kind {
    GTRACE_UNREAD, /* the guest's memory could not be read; `text` says so */
    GTRACE_INTEGER,
    GTRACE_UNSIGNED,
    GTRACE_REAL,
    GTRACE_TEXT, /* of the guest */
    GTRACE_OTHER /* a struct, and the like: `text` alone */
};
struct gtrace_value {
    const char *name; /* the parameter's; where it is not known "arg1", "retval" */
    const char *text; /* as readers show it; of TEXT without quotes, escaped */
    uint64_t number;  /* INTEGER, UNSIGNED */
    double real;      /* REAL */
    uint32_t kind;    /* enum gtrace_value_kind */
    uint32_t place;   /* N of argN; of fpargN GTRACE_FLOAT + N; 0: of the result, or not known */
};
enum { GTRACE_FLOAT = 0x10000 };

enum gtrace_want {
    GTRACE_WANT_PATH = 1,   /* the callers of each call */
    GTRACE_WANT_VALUES = 2, /* arguments and results */
};
/* A whole call. */
struct gtrace_call {
    uint64_t begin, end; /* of one that never returned: its task's last record */
    int64_t self;
    uint64_t slept;
    uint32_t task, function, depth, flags; /* enum gtrace_flag */
    const uint32_t *path;                  /* functions of its callers, outermost first */
    const struct gtrace_value *arguments;
    const struct gtrace_value *result; /* NULL: none was recorded */
    uint32_t n_path, n_arguments;
};
/* Calls of the window's functions, in the order in which they end; some at a time. They, and what
 * they point to, live until `calls` returns. Else as gtrace_walk. */
int gtrace_calls(struct gtrace *t, const struct gtrace_window *w,
                 int (*calls)(void *user, const struct gtrace_call *call, size_t n, size_t stride),
                 void *user, struct gtrace_error *err);

/* Events of one task, in their order. */
struct gtrace_batch {
    uint32_t size;
    uint32_t task;
    const struct gtrace_event *event;
    size_t n, stride;
};
/* A pass on all processors (`threads` 0) or as many threads: tasks, and stretches of time of one
 * task, side by side. Each thread has a share of its own, which share() makes. batch() may be
 * called on any thread, for one share by one thread at a time; merge() gets each share on the
 * caller's thread and frees it, also after an error (`user` is NULL then). GTRACE_E_UNSUPPORTED: a
 * recording with values has no stretches; use gtrace_walk. Else as gtrace_walk. */
struct gtrace_consumer {
    uint32_t size, reserved;
    void *(*share)(void *user);
    int (*batch)(void *share, const struct gtrace_batch *b);
    int (*merge)(void *user, void *share);
};
int gtrace_scan(struct gtrace *t, const struct gtrace_window *w, const struct gtrace_consumer *c,
                void *user, unsigned threads, struct gtrace_error *err);

/* The same calls as gtrace_calls as one array, by their beginning, read on all processors where
 * that can be. The caller frees it with gtrace_free. */
struct gtrace_row {
    uint64_t begin, end;
    int64_t self;
    uint64_t slept;
    uint32_t task, function, depth, flags;
};
int64_t gtrace_collect(struct gtrace *t, const struct gtrace_window *w, struct gtrace_row **out,
                       struct gtrace_error *err);
void gtrace_free(void *rows); /* NULL is fine */

/* ---- search -------------------------------------------------------------------------------- */

/* A text that functions are sought by, as in `guesttrace view` and `tui`: a part of the name, in
 * any case; with * or ? a glob of the whole name; MODULE:NAME; /EXPRESSION/, PCRE2's. */
struct gtrace_search;
enum gtrace_found {
    GTRACE_FOUND_NOT,
    GTRACE_FOUND,
    GTRACE_FOUND_EXACTLY, /* it is this very name, or MODULE:NAME */
};
/* GTRACE_E_USAGE: not an expression, GTRACE_E_RANGE: it is too long; the message has the place. */
int gtrace_search_new(const char *text, struct gtrace_search **out, struct gtrace_error *err);
/* `module`: its path; NULL: it is in none. One thread at a time. */
enum gtrace_found gtrace_search_match(const struct gtrace_search *s, const char *name,
                                      const char *module);
void gtrace_search_free(struct gtrace_search *s); /* NULL is fine */

enum gtrace_order {
    GTRACE_BY_BEGIN,
    GTRACE_BY_DURATION,
    GTRACE_BY_TASK_INDEX,
    GTRACE_BY_NAME, /* the symbol */
};
struct gtrace_hits_options {
    uint32_t size;
    uint32_t by;   /* enum gtrace_order; equal ones by their beginning */
    uint32_t down; /* 1: the greatest first */
    uint32_t reserved;
    const bool *functions; /* by index of n: whose calls */
    size_t n;
    const struct gtrace_row
        *after; /* only calls behind this one, of an earlier answer; NULL: all */
};
/* Calls of the chosen functions: the first 2000 of them in the order, of which `self` and `slept`
 * are 0. Returns how many those are, *all: how many there are. The caller frees them with
 * gtrace_free. */
int64_t gtrace_hits(struct gtrace *t, const struct gtrace_window *w,
                    const struct gtrace_hits_options *o, struct gtrace_row **out, uint64_t *all,
                    struct gtrace_error *err);

/* ---- sums ---------------------------------------------------------------------------------- */

/* What has a sum of its own. Functions of one name in one module are one. */
enum gtrace_by { GTRACE_BY_FUNCTION, GTRACE_BY_TASK, GTRACE_BY_MODULE };
/* What the calls took together. */
struct gtrace_sum {
    uint64_t calls;
    uint64_t open;  /* of these: that never returned */
    uint64_t total; /* with what they called; recursive calls count once; of a module: calls from
                     * outside */
    uint64_t self;
    uint64_t slept;
    /* GTRACE_BY_FUNCTION: */
    uint64_t mean; /* of all calls, recursive ones as well */
    uint64_t longest, shortest;
    uint64_t self_longest, self_shortest;
    uint32_t index;     /* of the function, of the task, of one of the module's functions */
    uint32_t functions; /* of a task, of a module: how many were called */
};
/* Functions in order of their names, tasks by index, modules by path. Of functions the window's
 * choose. *out has as many items as it returns, `*stride` bytes apart; the caller frees it with
 * gtrace_free. */
int64_t gtrace_sums(struct gtrace *t, const struct gtrace_window *w, enum gtrace_by by,
                    struct gtrace_sum **out, size_t *stride, struct gtrace_error *err);

/* An initcall of Linux: a function that its do_one_initcall called, of the kernel or of a module,
 * or its console_init. */
struct gtrace_initcall {
    uint64_t begin, end;
    int64_t self;
    uint64_t slept;
    uint32_t task, function, depth, flags; /* enum gtrace_flag */
    const char *result; /* what it returned; NULL: the recording has no results of it, nor of
                         * do_one_initcall */
};
/* In order of time. *out as of gtrace_sums, with the texts. GTRACE_E_RANGE: more than a million. Of
 * the window `functions` and `want` are not used. */
int64_t gtrace_initcalls(struct gtrace *t, const struct gtrace_window *w,
                         struct gtrace_initcall **out, size_t *stride, struct gtrace_error *err);

/* ---- the tree of calls --------------------------------------------------------------------- */

#define GTRACE_NONE UINT32_MAX

/* The calls of one path of functions, outermost first, summed up. Nodes are in depth-first order:
 * node[i + 1] to node[node[i].end - 1] are below node i. */
struct gtrace_node {
    uint64_t calls; /* that ended on this path; of a root: of its children, as all below */
    uint64_t open;  /* of these: that never returned */
    uint64_t total; /* with what they called */
    uint64_t slept;
    int64_t self;      /* not below 0; of a root: 0 */
    uint64_t first;    /* when the first of them began */
    uint32_t function; /* of a root: the index of its task or process; of the whole: 0 */
    uint32_t parent;   /* node; GTRACE_NONE: a root */
    uint32_t end;      /* the node after the last one below this one */
    uint32_t depth;    /* of a root: 0 */
};
enum gtrace_tree_kind {
    GTRACE_TREE,          /* one root */
    GTRACE_TREE_TASKS,    /* a root for each task that has calls, by index */
    GTRACE_TREE_PROCESSES /* for each process */
};
struct gtrace_tree_options {
    uint32_t size;
    uint32_t kind;     /* enum gtrace_tree_kind */
    uint32_t by_first; /* children are in order of 0: their totals, 1: their first calls */
    uint32_t callers;  /* gtrace_tree_of: 1: who calls the functions, 0: what they call */
};
/* Functions of one name and module are one, whose index is the lowest. `o` may be NULL. *out as of
 * gtrace_sums. GTRACE_E_RANGE: more than 4 thousand million paths. */
int64_t gtrace_tree(struct gtrace *t, const struct gtrace_window *w,
                    const struct gtrace_tree_options *o, struct gtrace_node **out, size_t *stride,
                    struct gtrace_error *err);
/* A tree of the functions that are chosen, by index, which are its root's children, of the n nodes
 * of another one. What they call: a call of one of them below another is in its place there. Who
 * calls them: a node has the sums of the calls of the root's child that came through it. */
int64_t gtrace_tree_of(struct gtrace *t, const struct gtrace_node *tree, size_t n,
                       const bool *chosen, const struct gtrace_tree_options *o,
                       struct gtrace_node **out, size_t *stride, struct gtrace_error *err);

/* ---- texts and formats --------------------------------------------------------------------- */

/* Calls in order of time, in the layouts of `guesttrace replay`: docs/readers.md. */
enum gtrace_replay_form { GTRACE_REPLAY_TREE, GTRACE_REPLAY_FLAT, GTRACE_REPLAY_JSON };
enum gtrace_replay_color {
    GTRACE_COLOR_END,
    GTRACE_COLOR_MS, /* the unit of a duration */
    GTRACE_COLOR_S,
    GTRACE_COLOR_MINUTES,
    GTRACE_COLOR_COMMENT, /* the name of a call that ended */
    GTRACE_COLOR_EVENT,
    GTRACE_COLOR_LOST,
    GTRACE_COLORS
};
struct gtrace_replay_options {
    uint32_t size;
    uint32_t form;      /* enum gtrace_replay_form */
    uint32_t last;      /* only that many calls, the last ones; 0: all */
    uint32_t symbols;   /* 1: names as in the file, 0: demangled */
    const char *fields; /* "duration,tid": the columns of TREE; "+elapsed": the usual ones and this;
                         * "none", "all"; NULL: the usual ones */
    const char *const *modules; /* only calls of functions of these, base names of files, patterns,
                                 * until NULL; NULL: all */
    const char *const *colors;  /* by enum gtrace_replay_color, what begins it; NULL: no colours */
};
/* Writes them to the descriptor. The window's functions choose calls with what they call. Returns
 * 1, or 0: nothing was chosen. GTRACE_E_USAGE: no such field; GTRACE_E_NOT_FOUND: a pattern fits no
 * function that was called; GTRACE_E_IO: `fd` could not be written, errno says why. A pipe
 * without a reader raises SIGPIPE unless the caller ignores it. */
int gtrace_replay(struct gtrace *t, const struct gtrace_window *w,
                  const struct gtrace_replay_options *o, int fd, struct gtrace_error *err);

/* The formats of other tools: docs/exports.md. */
enum gtrace_format {
    GTRACE_FORMAT_PERFETTO,
    GTRACE_FORMAT_CHROME,
    GTRACE_FORMAT_FOLDED,       /* of each path its time */
    GTRACE_FORMAT_FOLDED_CALLS, /* how often it was called */
    GTRACE_FORMAT_SPEEDSCOPE,
    GTRACE_FORMAT_CALLGRIND,
    GTRACE_FORMAT_PPROF,
    GTRACE_FORMAT_FIREFOX,
    GTRACE_FORMAT_PERF
};
/* As gtrace_replay. Equal recordings give equal bytes. */
int gtrace_export(struct gtrace *t, const struct gtrace_window *w, enum gtrace_format format,
                  int fd, struct gtrace_error *err);
struct gtrace_export_options {
    uint32_t size;
    uint32_t reserved; /* 0 */
    double least; /* FOLDED, FOLDED_CALLS, SPEEDSCOPE, FIREFOX and PERF, of sums: paths that have
                   * less than this share of all, 0 to 1, are added to their callers'; a notice says
                   * how many. Other formats: 0 */
};
/* As gtrace_export; `o` NULL: all paths. */
int gtrace_export_with(struct gtrace *t, const struct gtrace_window *w, enum gtrace_format format,
                       const struct gtrace_export_options *o, int fd, struct gtrace_error *err);
/* Common Trace Format 1.8, a directory, which gets its name when it is complete. A trace that has
 * the name is replaced. Returns 1, or 0: nothing was chosen, nothing is written. GTRACE_E_EXISTS:
 * something else has the name; GTRACE_E_IO; else as gtrace_replay. */
int gtrace_export_ctf(struct gtrace *t, const struct gtrace_window *w, const char *to,
                      struct gtrace_error *err);
/* Writes the whole recording at `from`, a file or a directory, in the other form, GTRACE_FILE or
 * GTRACE_DIRECTORY. `to` gets its name when it is complete; a recording of calls that has the name
 * is replaced, a directory moved to TO.old. Of `o`, which may be NULL, only `notice` is used.
 * GTRACE_E_EXISTS: something else has the name; GTRACE_E_BUSY, GTRACE_E_NOT_FOUND, GTRACE_E_IO,
 * GTRACE_E_NOMEM, GTRACE_E_FORMAT. */
int gtrace_convert(const char *from, const char *to, enum gtrace_form form,
                   const struct gtrace_options *o, struct gtrace_error *err);

/* ---- the page of `guesttrace view` --------------------------------------------------------- */

/* The page as one file: the whole recording and, unless it is NULL, how `other` differs from it.
 * GTRACE_E_RANGE: it does not fit into `most` bytes; else as gtrace_replay. */
int gtrace_export_page(struct gtrace *t, struct gtrace *other, uint64_t most, int fd,
                       struct gtrace_error *err);

/* The page for a server: what it asks while one looks at it. Questions and answers are not ABI:
 * they change with the page, which is an answer, too. */
struct gtrace_page;
struct gtrace_page_options {
    uint32_t size;
    uint32_t symbols;     /* 1: names as in the file, 0: demangled */
    struct gtrace *other; /* what it is compared with; NULL: nothing */
    const char *sources;  /* the folder with the texts of source files; NULL: they are not shown */
    const char *coverage; /* a tracefile of lcov, how often lines ran; NULL: none */
};
/* Closed before `t` and `other`, whose calls it reads meanwhile. `o` may be NULL. GTRACE_E_NOMEM;
 * GTRACE_E_NOT_FOUND, GTRACE_E_IO, GTRACE_E_RANGE, GTRACE_E_FORMAT: of `sources`, `coverage`. */
int gtrace_page_open(struct gtrace *t, const struct gtrace_page_options *o,
                     struct gtrace_page **out, struct gtrace_error *err);
/* Reads the whole recording for the time line, which answers have as far as it is. Once, on any
 * thread. GTRACE_E_USAGE: gtrace_page_stop has ended it; else as gtrace_scan. */
int gtrace_page_read(struct gtrace_page *p, struct gtrace_error *err);
void gtrace_page_stop(struct gtrace_page *p);
struct gtrace_page_answer {
    uint32_t size;
    int32_t final;    /* 1: the same question will have the same answer */
    const char *type; /* its media type, as HTTP has it */
};
/* Writes the answer to a question, "" for the page itself, to the descriptor. value() gives the
 * text of a parameter, NULL: it is not given. On any threads at a time. `p` NULL: there is no
 * recording yet: only the page itself and its files are answers. GTRACE_E_NOT_FOUND: no such
 * question; GTRACE_E_USAGE, GTRACE_E_RANGE: of a parameter; GTRACE_E_IO: `fd` could not be written,
 * errno says why; else as gtrace_scan. Then the written text is not an answer. */
int gtrace_page_answer(struct gtrace_page *p, const char *question,
                       const char *(*value)(void *user, const char *key), void *user, int fd,
                       struct gtrace_page_answer *out, struct gtrace_error *err);
void gtrace_page_close(struct gtrace_page *p); /* NULL is fine; not while another call runs */

/* ---- numbers of whole recordings ----------------------------------------------------------- */

/* What a task has, counted. */
struct gtrace_counts {
    uint64_t calls, events;
    uint64_t lost;        /* how often records were lost */
    uint64_t first, last; /* times of its first and last event; UINT64_MAX, 0: it has none */
    uint32_t deepest;     /* the most calls that were open at a time */
    uint32_t functions;   /* of all tasks: how many were called */
};
/* Reads the whole recording. *out has an item for each task, by index, and behind them one for all
 * tasks together, `*stride` bytes apart; the caller frees it with gtrace_free. */
int gtrace_counts(struct gtrace *t, struct gtrace_counts **out, size_t *stride,
                  struct gtrace_error *err);

/* A function of one or both of two recordings. One of the first is that of the second with the same
 * symbol, in a file of the same name. */
struct gtrace_change {
    uint64_t calls[2], total[2], self[2]; /* in both */
    uint32_t function, side;              /* its index, in the recording of that number */
    uint32_t n_file;                      /* how much of `file` says which file it is */
    uint32_t reserved;
    const char *file; /* its module's name without the folder */
};
/* Reads both. *out has the functions whose calls or times differ, in the order of their symbols;
 * it returns how many. Of the window only `wall` is used. The caller frees it with gtrace_free. */
int64_t gtrace_changes(struct gtrace *const t[2], const struct gtrace_window *w,
                       struct gtrace_change **out, size_t *stride, struct gtrace_error *err);

#ifdef __cplusplus
}
#endif
#endif
