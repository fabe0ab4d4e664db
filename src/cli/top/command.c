/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace top`: the functions and tasks of a recording that is being written. */
#include "cli/reading.h"
#include "cli/top/top.h"

#include <locale.h>
#include <string.h>
#include <unistd.h>

struct top_options {
    bool batch, json, tasks, demangle, wall, quiet;
    uint64_t count, limit;
    GPtrArray *symbols;
    const char *delay, *sort, *match, *task, *since;
};

static const char *const since_names[] = {"begin", "now", NULL};

static const struct gt_cli_option top_table[] = {
    {"batch", 'b', GT_OPTION_FLAG, .help = "print tables, also without a terminal",
     .heading = GT_UNDER_OUTPUT | GT_OPTION_FIRST, .offset = offsetof(struct top_options, batch)},
    {"json", .type = GT_OPTION_FLAG, .help = "print tables, a line of JSON each, times in ns",
     .heading = GT_UNDER_OUTPUT | GT_OPTION_FIRST, .offset = offsetof(struct top_options, json)},
    {"count", 'n', GT_OPTION_NUMBER, .value = "COUNT", .min = 1, .max = UINT32_MAX,
     .help = "end after COUNT tables (default: at the recording's end, or with q)",
     .heading = GT_UNDER_OUTPUT | GT_OPTION_FIRST, .offset = offsetof(struct top_options, count)},
    {"delay", 'd', GT_OPTION_TEXT, .value = "SECONDS",
     .help = "time between tables, from 0.01 to 3600 (default: 2)",
     .heading = GT_UNDER_OUTPUT | GT_OPTION_FIRST, .offset = offsetof(struct top_options, delay)},
    {"tasks", .type = GT_OPTION_FLAG, .old = "-t", .help = "begin with tasks instead of functions",
     .heading = GT_UNDER_SHOWN | GT_OPTION_FIRST, .offset = offsetof(struct top_options, tasks)},
    {"sort", 's', GT_OPTION_CHOICE, .value = "COLUMN", .choices = gt_cli_follow_sort_names,
     .help = "put the largest of that column first (default: self)",
     .heading = GT_UNDER_SHOWN | GT_OPTION_FIRST, .offset = offsetof(struct top_options, sort)},
    {"match", .type = GT_OPTION_TEXT, .old = "-m", .value = "GLOB",
     .help = "only names that the glob matches", .heading = GT_UNDER_SHOWN | GT_OPTION_FIRST,
     .offset = offsetof(struct top_options, match)},
    {"task", .type = GT_OPTION_TEXT, .value = "TASK",
     .help = "only this task, a number, or tasks of this name, a glob (*, ?)",
     .heading = GT_UNDER_SHOWN | GT_OPTION_FIRST, .offset = offsetof(struct top_options, task)},
    {"limit", 'l', GT_OPTION_NUMBER, .value = "N", .min = 1, .max = UINT32_MAX,
     .help = "only the first N rows", .heading = GT_UNDER_SHOWN | GT_OPTION_FIRST,
     .offset = offsetof(struct top_options, limit)},
    {"symbols", .type = GT_OPTION_FILE, .repeat = true, .value = "FILE[:OFFSET]",
     .help = "machines: take names also from this file, at its load offset",
     .heading = GT_UNDER_NAMES | GT_OPTION_FIRST, .offset = offsetof(struct top_options, symbols)},
    {"since", .type = GT_OPTION_CHOICE, .value = "begin|now", .choices = since_names,
     .help =
         "begin with all that is recorded, or with nothing (default: begin, up to 4 Mi records)",
     .heading = GT_UNDER_SHOWN | GT_OPTION_FIRST, .offset = offsetof(struct top_options, since)},
    {"wall", .type = GT_OPTION_FLAG,
     .help = "totals with the time in which tasks were suspended, as the row linux:schedule",
     .heading = GT_UNDER_SHOWN, .offset = offsetof(struct top_options, wall)},
    {"demangle", .type = GT_OPTION_FLAG, .initial = true,
     .help = "demangle C++ and Rust names (the default)", .heading = GT_UNDER_NAMES,
     .offset = offsetof(struct top_options, demangle)},
    {"no-demangle", .type = GT_OPTION_FLAG, .off = true, .help = "do not demangle names",
     .heading = GT_UNDER_NAMES, .offset = offsetof(struct top_options, demangle)},
    GT_QUIET_OPTION(struct top_options, quiet),
    {0},
};

static enum gt_cli_follow_sort sort_of(const char *name)
{
    unsigned i = 0;
    while (name && strcmp(gt_cli_follow_sort_names[i], name) != 0)
        i++;
    return (enum gt_cli_follow_sort)i;
}

static uint64_t most_of(const char *since)
{
    return !since ? GT_FOLLOW_FROM_BEGIN : strcmp(since, since_names[0]) == 0 ? UINT64_MAX : 0;
}

static int choose(struct gt_cli_follow *f, const struct top_options *o, struct gt_error *err)
{
    int status = 0;
    f->by_task = o->tasks;
    f->wall = o->wall;
    f->sort = sort_of(o->sort);
    f->limit = o->limit;
    f->glob = g_strdup(o->match);
    if (o->task)
        gt_cli_follow_set_task(f, o->task);
    for (guint i = 0; status == 0 && o->symbols && i < o->symbols->len; i++)
        status = gt_place_live_add(f->live, o->symbols->pdata[i], err);
    return status;
}

static int run_top(const struct gt_cli_command *self, const void *options, size_t n,
                   char **operands)
{
    const struct top_options *o = options;
    struct gt_error err = {0};
    const struct gt_cli_top_pace pace = {gt_cli_top_delay(o->delay ? o->delay : "2"), o->count};
    const bool prints = o->batch || o->json;
    if (n != 1)
        return gt_cli_command_usage_error(self, "takes a socket: that of record --control");
    if (pace.delay < 0)
        return gt_cli_command_usage_error(self, "--delay %s: expected seconds from 0.01 to 3600",
                                          o->delay);
    if (!prints && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)))
        return gt_cli_command_fail(self, GT_EXIT_FAILED,
                                   "not a terminal; use --batch to print tables");
    setlocale(LC_CTYPE, "");
    struct gt_cli_top t = {.notices = gt_cli_default_notices(self, o->quiet),
                           .held = prints ? NULL : g_ptr_array_new_with_free_func(g_free)};
    int status = gt_cli_top_open(&t, operands[0], most_of(o->since), o->demangle, &err);
    if (status == 0)
        status = choose(t.follow, o, &err);
    if (status == 0)
        status = prints ? gt_cli_top_batch(&t, &pace, o->json, &err)
                        : gt_cli_top_screen(&t, &pace, &err);
    gt_cli_top_close(&t);
    return status < 0 ? gt_cli_command_fail(self, GT_EXIT_FAILED, "%s", err.text) : GT_EXIT_DONE;
}

const struct gt_cli_command gt_cli_command_top = {
    .name = "top",
    .summary = "show what a running recording's functions and tasks do, in the terminal",
    .usage = (const char *const[]){"[OPTION]... SOCKET", NULL},
    .paragraphs =
        (const char *const[]){
            "SOCKET is that of 'guesttrace record --control'. top asks the recording to write what "
            "it has, reads what is new, and shows the functions that ran since the last table: "
            "their self time, total time and calls, then, and since the recording began. A table "
            "of a recording with more than 4 Mi records begins with nothing (--since). Recordings "
            "with --last have no file to be read, and are refused.",
            "? shows all keys: s, < and > choose the column that sorts; t shows tasks, with the "
            "time "
            "that each ran, or functions; / seeks functions by a part of the name, a glob, "
            "MODULE:NAME or /REGEX/; T takes a task, whose functions alone are shown then; space "
            "pauses; q ends.",
            "Damage in the recording's file is reported on standard error, from the screen when it "
            "ends.",
            "With --batch or --json the exit status is 0 if the recording ended or N tables were "
            "printed, 1 if it was interrupted.",
            NULL},
    .spec = {.table = top_table},
    .options_size = sizeof(struct top_options),
    .operands = GT_OPERANDS_FILES,
    .run = run_top,
};
