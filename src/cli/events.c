/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace events list`: a trace-events file of the functions of a guest. */
#include "base/file.h"
#include "base/output.h"
#include "cli/command.h"
#include "events/guest/expand.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct events_options {
    GPtrArray *match;
    const char *output;
    bool returns;
};

static const struct gt_cli_option events_table[] = {
    {"match", .type = GT_OPTION_TEXT, .old = "-e", .repeat = true, .value = "GLOB",
     .help = "declare events of the functions whose names match (default: all)",
     .offset = offsetof(struct events_options, match)},
    {"returns", .type = GT_OPTION_FLAG, .old = "-r",
     .help = "declare an event of each function's result, too",
     .offset = offsetof(struct events_options, returns)},
    {"output", 'o', GT_OPTION_FILE, .value = "FILE",
     .help = "write to FILE (default: standard output)",
     .offset = offsetof(struct events_options, output)},
    {0},
};

static int write_all(const struct gt_cli_command *self, const struct events_options *opt,
                     struct gt_events_guest_functions *g)
{
    struct gt_text text = {0};
    struct gt_error err;
    struct gt_output out;
    int result = GT_EXIT_DONE, status;
    for (guint i = 0; i < (opt->match ? opt->match->len : 1); i++) {
        const char *glob = opt->match ? opt->match->pdata[i] : "*";
        if (!gt_events_guest_functions_write(g, glob, opt->returns, &text))
            result = gt_cli_command_fail(self, GT_EXIT_FAILED,
                                         "no function with a prototype matches '%s'", glob);
    }
    if (result == GT_EXIT_DONE && opt->output) {
        if (gt_file_replace_text(opt->output, &text, &err) < 0)
            result = gt_cli_command_fail(self, GT_EXIT_FAILED, "%s", err.text);
    } else if (result == GT_EXIT_DONE) {
        gt_output_init(&out, STDOUT_FILENO);
        gt_output_bytes(&out, text.data, text.len);
        status = text.failed ? gt_error_set(&err, GT_E_NOMEM, "out of memory")
                             : gt_output_finish(&out, "standard output", &err);
        if (status < 0)
            result = gt_cli_command_fail(self, GT_EXIT_FAILED, "%s", err.text);
    }
    gt_text_free(&text);
    return result;
}

static int run_events(const struct gt_cli_command *self, const void *options, size_t n,
                      char **operands)
{
    struct gt_events_guest_functions *g;
    struct gt_error err;
    if (n == 0)
        return gt_cli_command_usage_error(self,
                                          "takes files: programs, libraries, kernels, modules");
    if (gt_events_guest_functions_load((const char *const *)operands, n, true, &g, &err) < 0)
        return gt_cli_command_fail(self, GT_EXIT_FAILED, "%s", err.text);
    int status = write_all(self, options, g);
    gt_events_guest_functions_free(g);
    return status;
}

const struct gt_cli_command gt_cli_command_events = {
    .name = "events",
    .now = "events list",
    .summary = "write a trace-events file of a guest's functions",
    .usage = (const char *const[]){"[--match GLOB]... [--returns] [-o EVENTS] FILE...", NULL},
    .paragraphs =
        (const char *const[]){
            "FILE is a program or library with debug information, a Linux kernel with BTF "
            "(a vmlinuz of a distribution has it), or a module of the kernel before it. Each "
            "function that has a prototype and matches becomes an event of its name with its "
            "parameters, for 'guesttrace record --guest-events'.",
            "Parameters that are floats are left out; those from the first struct by value on, or "
            "from the first that is not where the calling convention has it, too.",
            NULL},
    .spec = {.table = events_table},
    .options_size = sizeof(struct events_options),
    .operands = GT_OPERANDS_FILES,
    .run = run_events,
};
