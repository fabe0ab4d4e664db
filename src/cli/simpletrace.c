/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace simpletrace`: a trace of the simple backend as text, JSON, or figures. */
#include "cli/simpletrace.h"

#include "cli/command.h"

#include <unistd.h>

struct simpletrace_options {
    bool no_header;
};

static const struct gt_option simpletrace_table[] = {
    {"no-header", 0, GT_OPTION_FLAG,
     .help = "the trace has neither header nor mappings, as SystemTap scripts write it",
     .offset = offsetof(struct simpletrace_options, no_header)},
    {0},
};

struct walk {
    const struct gt_command *command;
    const struct gt_simpletrace_form *form;
    void *self;
    struct gt_output out;
};

static void flush(void *self)
{
    gt_output_flush(self);
}

/* The exit status. */
static int read_records(struct walk *w, struct gt_trace_reader *reader)
{
    const struct gt_trace_record *r;
    struct gt_trace_error err = {0};
    int status, worst = GT_EXIT_DONE;
    uint64_t before = 0;
    bool any = false;
    while (!w->out.failed && (status = gt_trace_reader_next(reader, &r, &err)) != 0) {
        if (status < 0) {
            gt_output_flush(&w->out);
            worst = gt_command_fail(w->command, GT_EXIT_FAILED, "%s", err.text);
            continue;
        }
        w->form->record(w->self, r, any ? before : r->timestamp);
        before = r->timestamp;
        any = true;
    }
    uint64_t skipped = gt_trace_reader_skipped(reader);
    if (skipped)
        gt_command_fail(w->command, 0, "%llu records could not be shown",
                        (unsigned long long)skipped);
    return worst;
}

static int show(struct walk *w, const struct simpletrace_options *opt,
                const struct gt_trace_declarations *d, const char *path)
{
    const struct gt_trace_reader_options how = {
        .no_header = opt->no_header, .before_wait = flush, .self = &w->out};
    struct gt_trace_reader *reader;
    struct gt_trace_error err;
    struct gt_error write_err;
    if (gt_trace_reader_open(&reader, path, d, &how, &err) < 0)
        return gt_command_fail(w->command, GT_EXIT_FAILED, "%s", err.text);
    w->self = w->form->begin(&w->out, d);
    int status = read_records(w, reader);
    w->form->end(w->self);
    gt_trace_reader_close(reader);
    if (gt_output_finish(&w->out, "standard output", &write_err) < 0)
        status = gt_command_fail(w->command, GT_EXIT_FAILED, "%s", write_err.text);
    return status;
}

static int run_simpletrace(const struct gt_command *self, const void *options, size_t n,
                           char **operands)
{
    const struct simpletrace_options *opt = options;
    struct gt_trace_declarations *d;
    struct gt_trace_error err;
    if (n != 2)
        return gt_command_usage_error(self, "takes an events file and a trace: EVENTS TRACE");
    if (gt_trace_declarations_read(&d, operands[0], &err) < 0)
        return gt_command_fail(self, GT_EXIT_FAILED, "%s", err.text);
    g_autofree struct walk *w = g_new0(struct walk, 1);
    w->command = self;
    w->form = &gt_simpletrace_text;
    gt_output_init(&w->out, STDOUT_FILENO);
    int status = show(w, opt, d, operands[1]);
    gt_trace_declarations_free(d);
    return status;
}

const struct gt_command gt_command_simpletrace = {
    .name = "simpletrace",
    .summary = "show a trace that the simple backend of trace events wrote",
    .usage = (const char *const[]){"EVENTS TRACE", NULL},
    .paragraphs = (const char *const[]){"", NULL},
    .options = simpletrace_table,
    .options_size = sizeof(struct simpletrace_options),
    .operands = GT_OPERANDS_FILES,
    .run = run_simpletrace,
};
