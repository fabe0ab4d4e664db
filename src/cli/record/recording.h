/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `record` can record with: one file and one row a tool.
 *
 * A tool is a plugin, the arguments it takes, and what is to be done when QEMU has ended. A new one
 * is a file that defines one const struct gt_tool, and its row in record.c.
 */
#ifndef GT_CLI_RECORD_RECORDING_H
#define GT_CLI_RECORD_RECORDING_H

#include "analysis/recording/stats.h"
#include "cli/options.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* The options of `record`; NULL, false and 0: not given. */
struct gt_record_options {
    const char *tool, *output, *clock, *tasks, *qemu, *sysroot, *plugin, *flags, *control;
    const char *trace, *trace_file, *trace_socket; /* the plugin's own events */
    uint64_t depth, max_tasks, wait;
    bool no_tail_calls, privilege_levels, no_console, quiet, reconnect, drop;
    GPtrArray *symbols;
    /* of execlog; lists of strings */
    const char *format;
    uint64_t every, last;
    bool rdisas;
    GPtrArray *ifilter, *afilter, *reg, *range, *sym, *elf, *start, *stop;
};

struct gt_tool;
struct gt_record_names;
struct gt_console;

/* One run, from start to end. */
struct gt_recording {
    const struct gt_record_options *opt;
    const struct gt_tool *tool;
    bool user_mode;
    char *shown;                   /* the output as the user gave it */
    char *output;                  /* the same, absolute */
    char *qemu;                    /* executable */
    bool qemu_built;               /* by scripts/qemus, and not the one in PATH */
    char *plugin;                  /* absolute */
    GPtrArray *argv;               /* owns its strings; NULL-terminated */
    char *const *machine;          /* the arguments of a machine's QEMU; NULL: a program */
    struct gt_record_names *names; /* names.h; NULL: none */
    struct gt_console *console;    /* console.h; NULL: the guest's is not on standard output */
    char *code;                    /* the code map for the plugin; NULL: none */
    struct gt_recording_mark output_before, info_before, stats_before;
    int wait_status;
    double seconds; /* how long QEMU ran */
};

struct gt_tool {
    const char *name;
    const char *plugin; /* file name */
    const char *output; /* when none is given */
    uint64_t record;    /* bytes of a record, for the progress line; 0: there is none */
    bool code_map;      /* the plugin takes code=FILE (format/code_map/code_map.h) */
    bool needs_machine; /* decodes instructions: the guest's machine must be one of
                           guest/arch/arch.h */
    /* Looks at the output before QEMU starts; problems that can be told now. May be NULL. */
    int (*prepare)(struct gt_recording *r, struct gt_error *err);
    /* Then: appends ",name=value" for QEMU's -plugin option. */
    void (*arguments)(const struct gt_recording *r, GString *out);
    /* Completes the output and says on standard error what there is. False: the plugin did not
     * begin. */
    bool (*finish)(struct gt_recording *r);
};

extern const struct gt_tool gt_tool_uftrace, gt_tool_etrace, gt_tool_execlog;

/* The options that go with each. */
extern const struct gt_option gt_options_uftrace[], gt_options_etrace[], gt_options_execlog[];
#define GT_RECORD_FIELD(name) .offset = offsetof(struct gt_record_options, name)

/* For prepare: notes which output is there before the run. An error where there can be none, since
 * its folder is missing or closed. */
int gt_record_output_mark(struct gt_recording *r, struct gt_error *err);
/* After the run: the plugin has made or changed the output. */
bool gt_record_output_has_begun(const struct gt_recording *r);

/* The output as a word for a shell; the caller frees it (g_free). */
char *gt_record_output_quote(const struct gt_recording *r);

/* One line on standard error: "guesttrace record: ...". */
void gt_record_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* plan.c: fills *r (zeroed but for opt and tool) from the command line: QEMU, its
 * arguments, paths. The result is an exit status (enum gt_exit), 0 where all is well; else err says
 * why. */
int gt_record_plan(struct gt_recording *r, size_t n, char **operands, struct gt_error *err);
void gt_record_clear(struct gt_recording *r);

#endif
