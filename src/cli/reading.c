/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording of calls that a command sums up: see reading.h. */
#include "cli/reading.h"

#include "calls/export/frames.h"
#include "cli/opened.h"
#include "gtrace/bridge.h"

#include <string.h>

static int open_recording(struct gt_reading *r, const struct gt_command *self,
                          const struct gt_reading_options *o, const char *path,
                          struct gt_error *err)
{
    *r = (struct gt_reading){.command = self, .options = o};
    const struct gt_notices notices = gt_default_notices(self, o->quiet);
    int status = gt_opened_open_any(path, o->elf, &notices, &r->trace, err);
    if (status < 0)
        return status;
    r->calls = gt_gtrace_calls(r->trace);
    r->demangler = o->demangle ? gt_demangler_create() : NULL;
    return gt_window_make(&o->window, r->calls, &r->window, err);
}

static void close_recording(struct gt_reading *r)
{
    gt_window_clear(&r->window);
    gt_demangler_destroy(r->demangler);
    gtrace_close(r->trace);
    g_free(r->pager);
    *r = (struct gt_reading){0};
}

int gt_reading_start(struct gt_reading *r, struct gt_error *err)
{
    r->pager = g_new0(struct gt_pager, 1);
    return gt_pager_start(r->pager, &r->options->pager, err);
}

int gt_reading_finish(struct gt_reading *r, struct gt_error *err)
{
    return gt_pager_finish(r->pager, err);
}

int gt_reading_nothing(struct gt_reading *r, struct gt_error *err)
{
    const struct gt_calls_facts *f = gt_calls_facts(r->calls);
    if (f->form == GT_CALLS_ETRACE && f->records == 0)
        return gt_error_set(err, GT_E_NOT_FOUND,
                            "%s: an etrace stream without calls; record it with flags=exec, or "
                            "read it with guesttrace dump",
                            f->path);
    int status = gt_window_nothing(&r->options->window, r->calls, err);
    r->is_empty = status < 0;
    return status;
}

void gt_reading_put_clock(struct gt_reading *r)
{
    if (!r->options->quiet && gt_frames_in_instructions(r->calls))
        gt_output_text(&r->pager->out, "# Times are instructions of the guest, 1 ns each.\n");
}

/* Patterns that no function has matched; returns the status, or that there are some. */
static int report_unused(const struct gt_reading *r, int status, struct gt_error *err)
{
    char *message;
    bool some = false;
    for (size_t i = 0; (status == 0 || r->is_empty) &&
                       gt_window_unused(&r->window, r->calls, r->demangler, i, &message);
         i++) {
        if (i)
            gt_command_fail(r->command, 0, "%s", err->text);
        gt_error_set(err, GT_E_NOT_FOUND, "%s", message);
        g_free(message);
        some = true;
    }
    return some ? GT_E_NOT_FOUND : status;
}

int gt_reading_run(const struct gt_command *self, const struct gt_reading_options *o, size_t n,
                   char **operands,
                   int (*run)(struct gt_reading *r, const void *user, struct gt_error *err),
                   const void *user)
{
    struct gt_reading r;
    struct gt_error err = {0};
    if (n > 1)
        return gt_command_usage_error(self, "takes one recording");
    const char *path = gt_default_recording(self, operands[0], o->quiet);
    if (!path)
        return gt_default_recording_missing(self);
    int status = open_recording(&r, self, o, path, &err);
    if (status == 0) {
        status = run(&r, user, &err);
    } else if (!r.calls) {
        gt_default_recording_explain(self, path, &err);
    }
    status = report_unused(&r, status, &err);
    close_recording(&r);
    if (status == GT_E_USAGE)
        return gt_command_usage_error(self, "%s", err.text);
    return status < 0 ? gt_command_fail(self, GT_EXIT_FAILED, "%s", err.text) : GT_EXIT_DONE;
}
