/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording that a command reads through libgtrace: see opened.h. */
#include "cli/opened.h"

#include "cli/etrace_calls.h"

#include <unistd.h>

int gt_cli_opened_fail(struct gt_error *err, int status, const struct gtrace_error *from)
{
    return gt_error_set(err, status, "%s", from->text);
}

int gt_cli_opened_fail_output(struct gt_error *err, int status, const struct gtrace_error *from,
                              int failed, const char *name)
{
    if (status == GTRACE_E_IO && failed)
        return gt_error_errno(err, failed, "%s: cannot be written", name);
    return gt_cli_opened_fail(err, status, from);
}

static int open_at(const char *path, const int *of_etrace, const struct gt_error_notices *notices,
                   struct gtrace **out, struct gt_error *err)
{
    const struct gtrace_options how = {
        .size = sizeof how, .notice = notices->put, .user = notices->self, .of_etrace = of_etrace};
    struct gtrace_error e = {.size = sizeof e};
    int status = gtrace_open(path, &how, out, &e);
    return status < 0 ? gt_cli_opened_fail(err, status, &e) : status;
}

int gt_cli_opened_open(const char *path, const struct gt_error_notices *notices,
                       struct gtrace **out, struct gt_error *err)
{
    *out = NULL;
    return open_at(path, NULL, notices, out, err);
}

/* An etrace stream is made into a recording first. */
int gt_cli_opened_open_any(const char *path, GPtrArray *elf, const struct gt_error_notices *notices,
                           struct gtrace **out, struct gt_error *err)
{
    *out = NULL;
    const char *const *programs = gt_cli_option_texts(elf);
    if (!gt_cli_etrace_calls_are(path, programs))
        return open_at(path, NULL, notices, out, err);
    int fd = gt_cli_etrace_calls_make(path, programs, notices, err);
    if (fd < 0)
        return fd;
    int status = open_at(path, &fd, notices, out, err);
    close(fd);
    return status;
}

int gt_cli_opened_start(struct gt_cli_opened *r, struct gt_error *err)
{
    r->pager = g_new0(struct gt_cli_pager, 1);
    return gt_cli_pager_start(r->pager, &r->options->pager, err);
}

int gt_cli_opened_finish(struct gt_cli_opened *r, struct gt_error *err)
{
    return gt_cli_pager_finish(r->pager, err);
}

int gt_cli_opened_run(const struct gt_cli_command *self, const struct gt_cli_opened_options *o,
                      size_t n, char **operands,
                      int (*run)(struct gt_cli_opened *r, const void *user, struct gt_error *err),
                      const void *user)
{
    struct gt_cli_opened r = {.command = self, .options = o};
    struct gt_error err = {0};
    if (n > 1)
        return gt_cli_command_usage_error(self, "takes one recording");
    const char *path = gt_cli_default_recording(self, operands[0], o->quiet);
    if (!path)
        return gt_cli_default_recording_missing(self);
    const struct gt_error_notices notices = gt_cli_default_notices(self, o->quiet);
    int status = gt_cli_opened_open_any(path, o->elf, &notices, &r.trace, &err);
    if (status == 0)
        status = run(&r, user, &err);
    else
        gt_cli_default_recording_explain(self, path, &err);
    gtrace_close(r.trace);
    g_free(r.pager);
    if (status == GT_E_USAGE)
        return gt_cli_command_usage_error(self, "%s", err.text);
    return status < 0 ? gt_cli_command_fail(self, GT_EXIT_FAILED, "%s", err.text) : GT_EXIT_DONE;
}
