/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace report`: functions, tasks or modules of a recording, with their times. */
#include "cli/report/report.h"

#include <string.h>

struct report_options {
    struct gt_cli_reading_options reader;
    const char *by, *sort;
    uint64_t limit;
    bool csv, json, hist;
};

static const struct gt_cli_option report_table[] = {
    {"by", .type = GT_OPTION_TEXT, .value = "WHAT",
     .help = "a line for each function (the default), task, module, initcall of Linux, or, with "
             "FUNC:VALUE, each value of an argument (its name, or arg1), or of what the function "
             "returned (retval)",
     .heading = GT_UNDER_SHOWN | GT_OPTION_FIRST, .offset = offsetof(struct report_options, by)},
    {"hist", .type = GT_OPTION_FLAG, .help = "--by FUNC:VALUE: a line for each power of two",
     .heading = GT_UNDER_SHOWN, .offset = offsetof(struct report_options, hist)},
    {"sort", 's', GT_OPTION_TEXT, .value = "COLUMN[,COLUMN]...",
     .help = "sort by these columns: total (the default), self, calls, total-avg (avg), total-min "
             "(min), total-max (max), slept, open, self-avg, self-min, self-max, name, module, "
             "functions, tid, pid, wall, begin",
     .heading = GT_UNDER_SHOWN | GT_OPTION_FIRST, .offset = offsetof(struct report_options, sort)},
    {"limit", 'l', GT_OPTION_NUMBER, .old = "-n", .value = "N", .min = 1, .max = UINT32_MAX,
     .help = "only the first N lines", .heading = GT_UNDER_SHOWN | GT_OPTION_FIRST,
     .offset = offsetof(struct report_options, limit)},
    {"csv", .type = GT_OPTION_FLAG, .help = "print comma-separated values, times in ns",
     .heading = GT_UNDER_OUTPUT | GT_OPTION_FIRST, .offset = offsetof(struct report_options, csv)},
    {"json", .type = GT_OPTION_FLAG, .help = "print JSON, times in ns",
     .heading = GT_UNDER_OUTPUT | GT_OPTION_FIRST, .offset = offsetof(struct report_options, json)},
    GT_WALL_OPTION(struct report_options, reader.window),
    GT_READING_OPTIONS(struct report_options, reader),
    {0},
};

/* 0: it is none of them. */
static enum gt_cli_report_by what(const struct report_options *o)
{
    const char *colon = o->by ? strrchr(o->by, ':') : NULL;
    if (!o->by || strcmp(o->by, "function") == 0)
        return GT_BY_FUNCTION;
    if (colon && colon > o->by && colon[1])
        return GT_BY_VALUE;
    return strcmp(o->by, "task") == 0       ? GT_BY_TASK
           : strcmp(o->by, "module") == 0   ? GT_BY_MODULE
           : strcmp(o->by, "initcall") == 0 ? GT_BY_INITCALL
                                            : 0;
}

static int print(struct gt_cli_reading *r, const struct report_options *o,
                 const struct gt_cli_report_rows *rows, struct gt_error *err)
{
    int status = gt_cli_reading_start(r, err);
    if (status < 0)
        return status;
    if (o->csv) {
        gt_cli_report_csv(rows, what(o), &r->pager->out);
    } else if (o->json) {
        gt_cli_report_json(rows, what(o), &r->pager->out);
    } else {
        gt_cli_reading_put_clock(r);
        gt_cli_report_table(rows, what(o), r->pager);
    }
    return gt_cli_reading_finish(r, err);
}

static int report(struct gt_cli_reading *r, const void *user, struct gt_error *err)
{
    const struct report_options *o = user;
    struct gt_cli_report_rows rows = {0};
    /* A wrong column is reported before the recording is read. */
    int status = gt_cli_report_sort(&rows, what(o), o->sort ? o->sort : "total", err);
    if (status == 0)
        status = what(o) == GT_BY_VALUE ? gt_cli_report_make_values(r, o->by, o->hist, &rows, err)
                 : what(o) == GT_BY_INITCALL ? gt_cli_report_make_initcalls(r, &rows, err)
                                             : gt_cli_report_make(r, what(o), &rows, err);
    if (status == 0)
        status = gt_cli_report_sort(&rows, what(o), o->sort ? o->sort : "total", err);
    if (o->limit && rows.n > o->limit)
        rows.n = o->limit;
    if (status == 0 && rows.n == 0)
        status = gt_cli_reading_nothing(r, err);
    if (status == 0)
        status = print(r, o, &rows, err);
    g_free(rows.row);
    if (rows.texts)
        g_string_chunk_free(rows.texts);
    return status;
}

static int run_report(const struct gt_cli_command *self, const void *options, size_t n,
                      char **operands)
{
    const struct report_options *o = options;
    if (o->csv && o->json)
        return gt_cli_command_usage_error(self, "takes one of --csv and --json");
    if (!what(o))
        return gt_cli_command_usage_error(
            self, "--by %s: expected function, task, module, initcall, or FUNC:VALUE", o->by);
    if (o->hist && what(o) != GT_BY_VALUE)
        return gt_cli_command_usage_error(self, "--hist: goes with --by FUNC:VALUE");
    return gt_cli_reading_run(self, &o->reader, n, operands, report, o);
}

const struct gt_cli_command gt_cli_command_report = {
    .name = "report",
    .summary = "list the functions of a recording, with their calls and times",
    .usage = (const char *const[]){"[--by WHAT] [--sort COLUMNS] [OPTION]... [RECORDING]", NULL},
    .paragraphs =
        (const char *const[]){
            GT_RECORDING_HELP,
            "Total is the time from a function's calls to their returns in which its task ran; "
            "recursive calls are not counted twice. Slept is the time in which the task was "
            "suspended meanwhile; the column is there if any was. Self is the time in the function "
            "without what it called. Average, "
            "minimum and maximum are of single calls. The total of a module is the time from its "
            "outermost calls to their returns, that of a task the time in all its calls. With "
            "--wall times have those in which tasks were suspended.",
            "The initcalls of Linux are the functions that do_one_initcall calls, of the kernel "
            "and of modules. Wall is the time from a call to its return. Results are there if "
            "do_one_initcall was recorded with its result (-R do_one_initcall@retval/i32).",
            "With --depth and --time-filter the time of a call that is left out is self time of "
            "its "
            "caller.",
            NULL},
    .spec = {.table = report_table},
    .options_size = sizeof(struct report_options),
    .operands = GT_OPERANDS_FILES,
    .run = run_report,
};
