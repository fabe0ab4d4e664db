/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace events simpletrace`: a trace of the simple backend as text, JSON, or figures. */
#include "events/simpletrace/simpletrace.h"

#include "cli/command.h"
#include "events/simpletrace/filter.h"
#include "events/simpletrace/merge.h"
#include "recording/file_kind.h"

#include <stdio.h>
#include <unistd.h>

struct simpletrace_options {
    bool no_header, json, stats, chrome;
    const char *filter;
};

static const struct gt_cli_option simpletrace_table[] = {
    {"filter", 'f', GT_OPTION_TEXT, .value = "EXPR", .help = "show only the records that match",
     .offset = offsetof(struct simpletrace_options, filter)},
    {"json", 'j', GT_OPTION_FLAG, .help = "print one JSON object per line",
     .offset = offsetof(struct simpletrace_options, json)},
    {"chrome", .type = GT_OPTION_FLAG, .old = "-c",
     .help = "print JSON for Perfetto and chrome://tracing",
     .offset = offsetof(struct simpletrace_options, chrome)},
    {"stats", .type = GT_OPTION_FLAG, .old = "-s",
     .help = "print counts, rates and gaps of events and processes",
     .offset = offsetof(struct simpletrace_options, stats)},
    {"no-header", 0, GT_OPTION_FLAG,
     .help = "read a trace without header and mappings, as SystemTap scripts write it",
     .offset = offsetof(struct simpletrace_options, no_header)},
    {0},
};

struct walk {
    const struct gt_cli_command *command;
    const struct gt_simpletrace_form *form;
    void *self;
    struct gt_simpletrace_filter *filter; /* NULL: all */
    int status;                           /* the exit status so far */
    struct gt_output out;
};

static void flush(void *self)
{
    gt_output_flush(self);
}

/* Reports an error; what follows it may be readable. */
static void report(void *self, const char *message)
{
    struct walk *w = self;
    gt_output_flush(&w->out);
    w->status = gt_cli_command_fail(w->command, GT_EXIT_FAILED, "%s", message);
}

static void read_records(struct walk *w, struct gt_simpletrace_merge *m)
{
    const struct gt_trace_record *r;
    uint64_t before = 0;
    bool any = false;
    while (!w->out.failed && (r = gt_simpletrace_merge_next(m, report, w))) {
        if (!any)
            before = r->timestamp;
        if (!w->filter || gt_simpletrace_filter_match(w->filter, r, before))
            w->form->record(w->self, r, before);
        before = r->timestamp;
        any = true;
    }
    uint64_t skipped = gt_simpletrace_merge_skipped(m);
    if (skipped)
        gt_cli_command_fail(w->command, 0, "%llu records could not be decoded",
                            (unsigned long long)skipped);
    uint64_t undecided = w->filter ? gt_simpletrace_filter_undecided(w->filter) : 0;
    if (undecided)
        w->status = gt_cli_command_fail(
            w->command, GT_EXIT_FAILED,
            "--filter: for %llu texts a regular expression was too much, they are "
            "taken as not matching; use a simpler one",
            (unsigned long long)undecided);
}

static int show(struct walk *w, const struct simpletrace_options *opt,
                const struct gt_simpletrace_files *files)
{
    const struct gt_trace_reader_options how = {
        .no_header = opt->no_header, .before_wait = flush, .self = &w->out};
    struct gt_simpletrace_merge *m;
    struct gt_error err;
    if (gt_simpletrace_merge_open(&m, files, &how, &err) < 0)
        return gt_cli_command_fail(w->command, GT_EXIT_FAILED, "%s", err.text);
    w->self = w->form->begin(&w->out, files->declared);
    read_records(w, m);
    w->form->end(w->self);
    gt_simpletrace_merge_close(m);
    if (gt_output_finish(&w->out, "standard output", &err) < 0)
        w->status = gt_cli_command_fail(w->command, GT_EXIT_FAILED, "%s", err.text);
    return w->status;
}

static const struct gt_simpletrace_form *form_of(const struct simpletrace_options *opt)
{
    if (opt->stats)
        return opt->json ? &gt_simpletrace_stats_json : &gt_simpletrace_stats;
    return opt->json     ? &gt_simpletrace_json
           : opt->chrome ? &gt_simpletrace_chrome
                         : &gt_simpletrace_text;
}

/* The message, the expression, and a caret below the place. */
static int filter_error(const struct gt_cli_command *self, const char *text, size_t at,
                        const struct gt_error *err)
{
    gt_cli_command_fail(self, 0, "--filter: %s", err->text);
    g_autofree char *shown = g_strdup(text);
    g_strdelimit(shown, "\t\r\n\v\f", ' ');
    fprintf(stderr, "  %s\n  %*s^\n", shown, (int)g_utf8_strlen(text, (gssize)at), "");
    return GT_EXIT_USAGE;
}

static int run_with(const struct gt_cli_command *self, const struct simpletrace_options *opt,
                    const struct gt_simpletrace_files *files)
{
    g_autofree struct walk *w = g_new0(struct walk, 1);
    struct gt_error err;
    size_t at;
    w->command = self;
    w->form = form_of(opt);
    gt_output_init(&w->out, STDOUT_FILENO);
    if (opt->filter &&
        gt_simpletrace_filter_parse(&w->filter, opt->filter, files->declared, &at, &err) < 0)
        return filter_error(self, opt->filter, at, &err);
    int status = show(w, opt, files);
    gt_simpletrace_filter_free(w->filter);
    return status;
}

/* Files of other kinds, which would be read as declarations; a trace without a header may begin
 * with anything. */
static int check_kinds(const struct simpletrace_options *opt, size_t n, char **operands,
                       struct gt_error *err)
{
    const unsigned trace = GT_FILE_IS(GT_FILE_SIMPLETRACE);
    const unsigned any = trace | GT_FILE_IS(GT_FILE_TEXT) | GT_FILE_IS(GT_FILE_EMPTY);
    int status = 0;
    for (size_t i = 0; i + 1 < n && status == 0 && !opt->no_header; i++)
        status = gt_recording_kind_check_at(operands[i], any,
                                            "declarations of events or a simpletrace file", err);
    return status < 0 || n == 0 || opt->no_header
               ? status
               : gt_recording_kind_check_at(operands[n - 1], trace, "a simpletrace file", err);
}

static int run_simpletrace(const struct gt_cli_command *self, const void *options, size_t n,
                           char **operands)
{
    const struct simpletrace_options *opt = options;
    struct gt_simpletrace_files files;
    struct gt_error err;
    if (opt->chrome && (opt->json || opt->stats))
        return gt_cli_command_usage_error(self, "--chrome does not go with --json and --stats");
    int status = gt_simpletrace_files_read(&files, (const char *const *)operands, n, &err);
    if (status == GT_E_USAGE)
        return gt_cli_command_usage_error(self, "%s", err.text);
    status = MIN(status, check_kinds(opt, n, operands, &err));
    status = status < 0 ? gt_cli_command_fail(self, GT_EXIT_FAILED, "%s", err.text)
                        : run_with(self, opt, &files);
    gt_simpletrace_files_clear(&files);
    return status;
}

const struct gt_cli_command gt_cli_command_simpletrace = {
    .name = "simpletrace",
    .now = "events simpletrace",
    .summary = "show a trace that the simple backend of trace events wrote",
    .usage = (const char *const[]){"[--json|--chrome|--stats] [--filter EXPR] EVENTS TRACE",
                                   "[OPTIONS] [EVENTS] TRACE [EVENTS] TRACE...", NULL},
    .paragraphs =
        (const char *const[]){
            "EVENTS is the trace-events file that declares the events (trace-events-all of QEMU), "
            "TRACE a file of the simple backend of QEMU or libguesttrace-events; \"-\" is standard "
            "input. The output is that of simpletrace.py: the event, the microseconds since the "
            "previous record, the process, and the arguments in hex.",
            "Several traces are merged by time, as a guest's events and QEMU's own: "
            "both "
            "have the host's monotonic clock. EVENTS may be missing where TRACE.events is there, "
            "which 'guesttrace record --guest-events' writes.",
            "EXPR compares arguments with numbers and strings (== != < <= > >=), or matches "
            "strings with globs (~) and regular expressions (=~, !~). A name alone, which may have "
            "* and ?, selects events. @event, @pid, @tid, @time and @delta (ns) are fields of "
            "every record. && || ! and parentheses combine conditions: 'blk_co_p* && bytes >= "
            "64k', 'flags & 0x10', 'name =~ \"^virt\" && !(@delta < 1ms)'. A comparison is false "
            "for an event that does not have the argument.",
            "--json prints pointers as strings, other numbers as declared. With --stats, --json "
            "prints the statistics as JSON.",
            "A record that cannot be decoded (its id was not mapped, its event is not declared, or "
            "its payload does not match the declaration) is left out and reported with its offset, "
            "once for each event. If the trace ends within a record, everything before it is "
            "printed. In all these cases the exit status is 1.",
            NULL},
    .spec = {.table = simpletrace_table},
    .options_size = sizeof(struct simpletrace_options),
    .operands = GT_OPERANDS_FILES,
    .run = run_simpletrace,
};
