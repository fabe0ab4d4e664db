/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording of calls that a command sums up: see reading.h. */
#include "cli/reading.h"

int gt_cli_reading_start(struct gt_cli_reading *r, struct gt_error *err)
{
    const int status = gt_cli_opened_start(r->opened, err);
    r->pager = r->opened->pager;
    return status;
}

int gt_cli_reading_finish(struct gt_cli_reading *r, struct gt_error *err)
{
    return gt_cli_opened_finish(r->opened, err);
}

static struct gtrace_facts facts_of(const struct gt_cli_reading *r)
{
    struct gtrace_facts f = {.size = sizeof f};
    gtrace_facts(r->trace, &f);
    return f;
}

int gt_cli_reading_nothing(struct gt_cli_reading *r, struct gt_error *err)
{
    const struct gtrace_facts f = facts_of(r);
    if (f.form == GTRACE_ETRACE && f.records == 0)
        return gt_error_set(err, GT_E_NOT_FOUND,
                            "%s: an etrace stream without calls; record it with flags=exec, or "
                            "read it with guesttrace dump",
                            f.path);
    int status = gt_cli_window_nothing(&r->options->window, r->trace, err);
    r->is_empty = status < 0;
    return status;
}

void gt_cli_reading_put_clock(struct gt_cli_reading *r)
{
    if (!r->options->opened.quiet && facts_of(r).clock == GTRACE_CLOCK_INSTRUCTIONS)
        gt_output_text(&r->pager->out, "# Times are instructions of the guest, 1 ns each.\n");
}

struct gtrace_function gt_cli_reading_function(const struct gt_cli_reading *r, uint32_t function)
{
    struct gtrace_function f = {.size = sizeof f};
    if (gtrace_function(r->trace, function, &f) < 0)
        return (struct gtrace_function){.name = "", .symbol = "", .module = ""};
    if (!r->options->demangle)
        f.name = f.symbol;
    return f;
}

const char *gt_cli_reading_name(const struct gt_cli_reading *r, uint32_t function)
{
    return gt_cli_reading_function(r, function).name;
}

/* Patterns that no function has matched; returns the status, or that there are some. */
static int report_unused(const struct gt_cli_reading *r, int status, struct gt_error *err)
{
    const char *message;
    bool some = false;
    struct gtrace_filter *filter = r->window.part.filter;
    if (!filter || (status != 0 && !r->is_empty))
        return status;
    for (size_t i = 0; (message = gtrace_filter_unused(filter, i)); i++) {
        if (i)
            gt_cli_command_fail(r->opened->command, 0, "%s", err->text);
        gt_error_set(err, GT_E_NOT_FOUND, "%s", message);
        some = true;
    }
    return some ? GT_E_NOT_FOUND : status;
}

struct job {
    const struct gt_cli_reading_options *options;
    int (*run)(struct gt_cli_reading *r, const void *user, struct gt_error *err);
    const void *user;
};

static int read_window(struct gt_cli_opened *opened, const void *user, struct gt_error *err)
{
    const struct job *job = user;
    struct gt_cli_reading r = {.opened = opened, .options = job->options, .trace = opened->trace};
    int status = gt_cli_window_make(&job->options->window, r.trace, &r.window, err);
    if (status == 0) {
        status = job->run(&r, job->user, err);
        status = report_unused(&r, status, err);
    }
    gt_cli_window_clear(&r.window);
    return status;
}

int gt_cli_reading_run(const struct gt_cli_command *self, const struct gt_cli_reading_options *o,
                       size_t n, char **operands,
                       int (*run)(struct gt_cli_reading *r, const void *user, struct gt_error *err),
                       const void *user)
{
    const struct job job = {o, run, user};
    return gt_cli_opened_run(self, &o->opened, n, operands, read_window, &job);
}
