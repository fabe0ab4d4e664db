/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace replay`: the calls of a recording, in order of time. */
#include "cli/reading.h"

#include <errno.h>

struct replay_options {
    struct gt_cli_reading_options reader;
    GPtrArray *functions, *modules;
    const char *fields;
    uint64_t last;
    bool flat, json;
};

static const struct gt_cli_option replay_table[] = {
    {"flat", .type = GT_OPTION_FLAG, .help = "print a line for each event, for other programs",
     .heading = GT_UNDER_OUTPUT, .offset = offsetof(struct replay_options, flat)},
    {"json", .type = GT_OPTION_FLAG, .help = "print JSON, a line for each call where it ends",
     .heading = GT_UNDER_OUTPUT | GT_OPTION_FIRST, .offset = offsetof(struct replay_options, json)},
    {"last", .type = GT_OPTION_NUMBER, .value = "N", .min = 1, .max = 10000000,
     .help = "only the last N calls, and calls open then",
     .heading = GT_UNDER_SHOWN | GT_OPTION_FIRST, .offset = offsetof(struct replay_options, last)},
    {"function", .type = GT_OPTION_TEXT, .repeat = true, .value = "PATTERN",
     .help = "only calls of these functions and what they call: NAME, a glob, MODULE:NAME",
     .heading = GT_UNDER_SHOWN | GT_OPTION_FIRST,
     .offset = offsetof(struct replay_options, functions)},
    {"module", 'm', GT_OPTION_TEXT, .repeat = true, .value = "NAME",
     .help = "only calls of functions of this module, a file's base name or a glob",
     .heading = GT_UNDER_SHOWN | GT_OPTION_FIRST,
     .offset = offsetof(struct replay_options, modules)},
    {"fields", 'f', GT_OPTION_TEXT, .value = "LIST",
     .help = "the columns: duration, tid, addr, time, delta, elapsed, at, task, module, joined by "
             "commas; +LIST adds to the default; none; all",
     .heading = GT_UNDER_SHOWN | GT_OPTION_FIRST,
     .offset = offsetof(struct replay_options, fields)},
    GT_READING_OPTIONS(struct replay_options, reader),
    {0},
};

static int replay(struct gt_cli_reading *r, const void *user, struct gt_error *err)
{
    const struct replay_options *o = user;
    struct gt_error write_err = {0};
    struct gtrace_error e = {.size = sizeof e};
    struct gtrace_window w = r->window.part;
    int status = gt_cli_reading_start(r, err);
    if (status < 0)
        return status;
    const bool color = r->pager->color;
    const char *const colors[GTRACE_COLORS] = {
        [GTRACE_COLOR_END] = gt_cli_color(color, GT_COLOR_NONE),
        [GTRACE_COLOR_MS] = gt_cli_color(color, GT_COLOR_GREEN),
        [GTRACE_COLOR_S] = gt_cli_color(color, GT_COLOR_YELLOW),
        [GTRACE_COLOR_MINUTES] = gt_cli_color(color, GT_COLOR_RED),
        [GTRACE_COLOR_COMMENT] = gt_cli_color(color, GT_COLOR_GRAY),
        [GTRACE_COLOR_EVENT] = gt_cli_color(color, GT_COLOR_GREEN),
        [GTRACE_COLOR_LOST] = gt_cli_color(color, GT_COLOR_RED),
    };
    const struct gtrace_replay_options how = {.size = sizeof how,
                                              .form = o->json   ? GTRACE_REPLAY_JSON
                                                      : o->flat ? GTRACE_REPLAY_FLAT
                                                                : GTRACE_REPLAY_TREE,
                                              .last = (uint32_t)o->last,
                                              .symbols = !o->reader.demangle,
                                              .fields = o->fields,
                                              .modules = gt_cli_option_texts(o->modules),
                                              .colors = colors};
    w.functions = gt_cli_option_texts(o->functions);
    status = gtrace_replay(r->trace, &w, &how, r->pager->out.fd, &e);
    const int failed = errno;
    const bool closed = status == GTRACE_E_IO && failed == EPIPE;
    if (gt_cli_reading_finish(r, &write_err) < 0)
        return gt_error_set(err, GT_E_IO, "%s", write_err.text);
    if (status < 0 && !closed)
        return gt_cli_opened_fail_output(err, status, &e, failed, "standard output");
    return status == 0 ? gt_cli_reading_nothing(r, err) : closed;
}

static int run_replay(const struct gt_cli_command *self, const void *options, size_t n,
                      char **operands)
{
    const struct replay_options *o = options;
    if (o->flat && o->json)
        return gt_cli_command_usage_error(self, "takes one of --flat and --json");
    return gt_cli_reading_run(self, &o->reader, n, operands, replay, o);
}

const struct gt_cli_command gt_cli_command_replay = {
    .name = "replay",
    .summary = "print the calls of a recording in order of time",
    .usage =
        (const char *const[]){"[--from TIME] [--to TIME] [--task TASK] [OPTION]... [RECORDING]",
                              NULL},
    .paragraphs =
        (const char *const[]){
            GT_RECORDING_HELP,
            "The layout is that of uftrace replay: how long a call took, its task, and the "
            "function, indented by its callers. A call in which nothing else happened is one line. "
            "Events, lost records and lines of a machine's console are comments. With --from the "
            "calls that a task had open at that time come before its first line.",
            "--flat prints \"TIME TID DEPTH EVENT DURATION FUNCTION\" for each entry and exit, "
            "times in seconds. EVENT is enter, leave, open (the recording ends in this call), "
            "event, name (the task has this name from here on), lost, console, or mark (of a "
            "trigger in a program).",
            "--json prints an object a line: docs/readers.md has its keys.",
            "Control characters in names are shown as \\xNN.", NULL},
    .spec = {.table = replay_table},
    .options_size = sizeof(struct replay_options),
    .operands = GT_OPERANDS_FILES,
    .run = run_replay,
};
