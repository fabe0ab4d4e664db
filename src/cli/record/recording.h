/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tools of `record`: a file and a row for each.
 *
 * A tool is a plugin, its arguments, and the steps before and after the run of QEMU. A new one is a
 * file that defines one const struct gt_record_tool, and its row in record.c.
 */
#ifndef GT_CLI_RECORD_RECORDING_H
#define GT_CLI_RECORD_RECORDING_H

#include "calls/repair/edit.h"
#include "calls/repair/stats.h"
#include "cli/options.h"
#include "cli/record/filters.h"
#include "events/library/dynamic/dynamic.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* The options of `record`; NULL, false and 0: not given. */
struct gt_record_options {
    const char *tool, *output, *clock, *tasks, *qemu, *sysroot, *plugin, *flags, *control;
    const char *trace, *trace_file; /* the plugin's own trace events */
    uint64_t depth, max_tasks, wait;
    bool no_tail_calls, privilege_levels, srcline, no_console, no_follow_exec, no_aslr, quiet,
        reconnect, drop;
    GPtrArray *symbols;
    struct gt_record_filters filters; /* uftrace */
    const char *format;               /* uftrace: of the recording; execlog: of the log */
    const char *split, *size_limit;
    const char *last; /* uftrace: what a flight recorder keeps; execlog: a number of instructions */
    /* options of execlog; the arrays are lists of strings */
    uint64_t every;
    bool rdisas;
    GPtrArray *ifilter, *afilter, *reg, *range, *sym, *elf, *start, *stop;
    const char *guest_events, *trace_events, *backends, *log, *policy; /* events */
    bool no_task;
};

struct gt_record_tool;
struct gt_record_names;
struct gt_record_console;
struct gt_record_causes;
struct gt_record_arguments;

/* The program of a user-mode run, as the files of its libraries are found. */
struct gt_record_program {
    char *path;                 /* NULL: not known */
    char *root;                 /* QEMU's -L; NULL: none */
    const char *const *triples; /* of its architecture */
};

/* One run, from start to end. */
struct gt_record_recording {
    const struct gt_record_options *opt;
    const struct gt_record_tool *tool;
    bool user_mode;
    bool lines;   /* recordings of calls: source lines are needed */
    char *shown;  /* the output path as the user gave it */
    char *output; /* the same, absolute */
    bool compact; /* the output is a compact file */
    char *dir;    /* recordings of calls: the directory with the text files, absolute */
    struct gt_repair_edit edit;    /* after the run */
    bool shared;                   /* then: other processes still record into it */
    char *qemu;                    /* executable */
    bool qemu_built;               /* scripts/qemus built the QEMU; it is not the one in PATH */
    char *plugin;                  /* absolute */
    GPtrArray *argv;               /* owns its strings; NULL-terminated */
    char *const *machine;          /* the arguments of a machine's QEMU; NULL: user mode */
    struct gt_record_names *names; /* see names.h; NULL: none */
    struct gt_record_console
        *console; /* see console.h; NULL: the guest's console is not on standard output */
    struct gt_record_causes *causes;        /* see causes.h; NULL: other tools */
    struct gt_events_dynamic_events events; /* guest events of the file, but not from globs */
    struct gt_record_console_events *console_events; /* see console_events.h; NULL: other tools */
    struct gt_record_arguments *arguments;           /* see arguments.h; NULL: none */
    struct gt_record_program program;
    char *target; /* user mode: QEMU's name of the architecture; NULL: not known */
    char *code;   /* path of the code map for the plugin; NULL: none */
    struct gt_repair_mark output_before, info_before, stats_before;
    GHashTable *programs_before; /* OUTPUT.PID.N; NULL: not looked at */
    int folder_events;           /* inotify's, of the output's folder; 0: not watched */
    bool made;                   /* the output, as they have said so far */
    GArray *snapshots_before;    /* --last: numbers of files OUTPUT.N, uint64_t; see flight.h */
    bool declared, declarations_moved; /* events: written; an earlier file is moved aside */
    bool left_nothing;                 /* filters have left nothing of what ran */
    int wait_status;
    double seconds; /* run time of QEMU */
};

struct gt_record_tool {
    const char *name;
    const char *plugin; /* file name of the plugin */
    const char *output; /* default output */
    const char *file;   /* recordings of calls: the default output that is a compact file */
    uint64_t record;    /* bytes of a record, for the progress line; 0: no progress line */
    bool code_map;      /* the plugin takes code=FILE (recording/code_map/code_map.h) */
    bool needs_machine; /* it decodes instructions: the guest's architecture must be in
                           guest/arch/arch.h */
    /* Checks the output before QEMU starts. May be NULL. */
    int (*prepare)(struct gt_record_recording *r, struct gt_error *err);
    /* Appends ",name=value" for each argument of QEMU's -plugin option. */
    void (*arguments)(const struct gt_record_recording *r, GString *out);
    /* True: recording may be switched off and on in the run. NULL: it is not. */
    bool (*switches)(const struct gt_record_recording *r);
    /* Completes the output and prints a summary on standard error. False: the plugin did not start,
     * or all of the output is gone. */
    bool (*finish)(struct gt_record_recording *r);
    /* In its place, where QEMU was not started. May be NULL. */
    void (*undo)(const struct gt_record_recording *r);
};

extern const struct gt_record_tool gt_record_tool_uftrace, gt_record_tool_etrace,
    gt_record_tool_execlog, gt_record_tool_events;

/* The options of each tool. */
extern const struct gt_cli_option gt_record_options_uftrace[], gt_record_options_etrace[],
    gt_record_options_execlog[], gt_record_options_events[];
#define GT_RECORD_FIELD(name) .offset = offsetof(struct gt_record_options, name)
#define GT_RECORD_NO_FOLLOW_EXEC                                                                   \
    {                                                                                              \
        "no-follow-exec",                                                                          \
            .type = GT_OPTION_FLAG,                                                                \
            .help =                                                                                \
                "do not record the programs that a program executes: let them run outside QEMU",   \
            .heading = GT_UNDER_RUN, GT_RECORD_FIELD(no_follow_exec)                               \
    }

/* For `prepare`: remembers the output that exists before the run. An error if the output's folder
 * does not exist or is not writable. */
int gt_record_output_mark(struct gt_record_recording *r, struct gt_error *err);
/* For `prepare` of recordings of calls: GT_E_EXISTS if something is at the output that is not moved
 * aside, or that is of the other format; else errors of gt_uftrace_dir_check and
 * gt_compact_work_check. */
int gt_record_output_check(const struct gt_record_recording *r, struct gt_error *err);
/* True if, after the run, the plugin has made or changed the output. */
bool gt_record_output_has_begun(const struct gt_record_recording *r);
/* Where it has not begun: true if it was made, and is gone. */
bool gt_record_output_is_removed(struct gt_record_recording *r);

/* Files of the programs that a recorded program executed, where each has its own: OUTPUT.PID.N.
 * Remembers the files of earlier runs, before QEMU starts; names this run's, if any, on standard
 * error.
 */
void gt_record_programs_mark(struct gt_record_recording *r);
void gt_record_programs_report(const struct gt_record_recording *r);
void gt_record_programs_clear(struct gt_record_recording *r);

/* Returns the output quoted for a shell; the caller frees it (g_free). */
char *gt_record_output_quote(const struct gt_record_recording *r);

/* Prints a line on standard error: "guesttrace record: ...". */
void gt_record_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* plan.c: fills *r from the command line: QEMU, its arguments, paths. opt and tool are set before,
 * all else is zero. Returns an exit status (enum gt_cli_exit): 0 on success, else err has the
 * reason.
 *
 */
int gt_record_plan(struct gt_record_recording *r, size_t n, char **operands, struct gt_error *err);
void gt_record_clear(struct gt_record_recording *r);

#endif
