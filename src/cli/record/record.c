/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace record`: runs a program or a machine under QEMU and records it. */
#include "base/qemu_environment.h"
#include "calls/file/work.h"
#include "cli/command.h"
#include "cli/default_recording.h"
#include "cli/record/arguments.h"
#include "cli/record/causes.h"
#include "cli/record/child.h"
#include "cli/record/console.h"
#include "cli/record/flight.h"
#include "cli/record/names.h"
#include "cli/record/progress.h"
#include "cli/record/qemu.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct gt_record_tool *const tools[] = {
    &gt_record_tool_uftrace, &gt_record_tool_etrace, &gt_record_tool_execlog,
    &gt_record_tool_events};
static const char *const tool_names[] = {"uftrace", "etrace", "execlog", "events", NULL};

static const struct gt_cli_option record_table[] = {
    {"output", 'o', GT_OPTION_FILE, .value = "PATH",
     .help = "write the recording to PATH (default: " GT_DEFAULT_FILE ", or " GT_DEFAULT_DIRECTORY
             " with --format uftrace); an earlier one there is renamed to PATH.old. With --tool "
             "etrace, execlog or events: a file (default: etrace.out, execlog.out, events.trace); "
             "with the first two also unix:PATH, a socket",
     .heading = GT_UNDER_OUTPUT | GT_OPTION_FIRST, GT_RECORD_FIELD(output)},
    {"tool", .type = GT_OPTION_CHOICE, .value = "TOOL", .choices = tool_names,
     .help =
         "select what to record: uftrace: function calls (the default); etrace: executed code and "
         "memory accesses; execlog: every instruction; events: trace events at places in the guest",
     .heading = GT_UNDER_WHAT | GT_OPTION_FIRST, GT_RECORD_FIELD(tool)},
    {"qemu", .type = GT_OPTION_FILE, .value = "QEMU",
     .help =
         "run the program with this user-mode QEMU (default: the one for the program's machine)",
     .heading = GT_UNDER_RUN, GT_RECORD_FIELD(qemu)},
    {"sysroot", .type = GT_OPTION_DIR, .old = "-L", .value = "DIR",
     .help = "look for the program's libraries in DIR (default: a cross toolchain's sysroot, if "
             "the program needs one); for a machine: name its processes' functions from the "
             "programs and libraries in DIR",
     .heading = GT_UNDER_RUN, GT_RECORD_FIELD(sysroot)},
    {"trace", .type = GT_OPTION_TEXT, .value = "PATTERN[+...]",
     .help =
         "enable these trace events of the plugin itself (docs/trace-events.md); off: record "
         "no calls until a trigger. With --tool events: enable only these of the file's events; "
         "off: none",
     .heading = GT_UNDER_CONTROL, GT_RECORD_FIELD(trace)},
    {"trace-file", .type = GT_OPTION_FILE, .value = "FILE",
     .help = "write the plugin's trace events to FILE (default: trace-PID)",
     .heading = GT_UNDER_CONTROL, GT_RECORD_FIELD(trace_file)},
    {"plugin", .type = GT_OPTION_FILE, .value = "FILE",
     .help = "load this plugin instead of the tool's", .heading = GT_UNDER_RUN,
     GT_RECORD_FIELD(plugin)},
    {"no-aslr", .type = GT_OPTION_FLAG,
     .help = "place QEMU, and with it a program, where it is in every run, so that recordings can "
             "be compared",
     .heading = GT_UNDER_RUN, GT_RECORD_FIELD(no_aslr)},
    {"quiet", 'q', GT_OPTION_FLAG, .help = "print errors only, no progress and no summary",
     .heading = GT_UNDER_OUTPUT, GT_RECORD_FIELD(quiet)},
    {0},
};

static const struct gt_cli_option_group tool_options[] = {
    {"uftrace", gt_record_options_uftrace},
    {"etrace", gt_record_options_etrace},
    {"execlog", gt_record_options_execlog},
    {"events", gt_record_options_events},
    {0},
};

static const struct gt_record_tool *find_tool(const char *name)
{
    for (size_t i = 0; name && i < G_N_ELEMENTS(tools); i++)
        if (strcmp(tools[i]->name, name) == 0)
            return tools[i];
    return tools[0];
}

/* Runs QEMU to its end; an exit status if it could not be started, else 0. */
static int run_qemu(const struct gt_cli_command *self, struct gt_record_recording *r)
{
    g_autofree char *version = gt_record_qemu_version(r->qemu);
    g_auto(GStrv) envp = g_get_environ();
    envp = version ? g_environ_setenv(envp, GT_QEMU_VERSION_VARIABLE, version, TRUE)
                   : g_environ_unsetenv(envp, GT_QEMU_VERSION_VARIABLE);
    if (r->user_mode)
        envp = g_environ_setenv(envp, GT_SLICE_VARIABLE, GT_SLICE_VALUE, FALSE);
    char **argv = (char **)r->argv->pdata;
    if (r->qemu_built && !r->opt->quiet)
        gt_record_say("the program runs under QEMU %s, built by scripts/qemus: %s",
                      version ? version : "of an unknown version", r->qemu);
    struct gt_record_progress progress;
    gt_record_progress_start(&progress, r->output, r->tool->record);
    bool show = r->tool->record && !(r->compact && r->opt->last) && !r->opt->quiet &&
                gt_record_progress_possible() &&
                (r->user_mode || !gt_record_qemu_uses_terminal(argv + 1));
    const struct gt_record_child child = {
        .path = r->qemu,
        .argv = argv,
        .envp = envp,
        .tick = show ? gt_record_progress_tick : NULL,
        .data = &progress,
        .signal = r->compact && r->opt->last ? gt_record_flight_signal : NULL,
        .signal_data = r,
        .same_places = r->opt->no_aslr,
        .output = r->console ? gt_record_console_output(r->console) : NULL,
        .input = gt_record_causes_input(r->causes),
    };
    struct gt_error err = {0};
    int status = gt_record_child_run(&child, &r->wait_status, &err);
    gt_record_progress_end(&progress);
    r->seconds = gt_record_progress_seconds(&progress);
    if (status < 0)
        return gt_cli_command_fail(
            self, status == GT_E_NOT_FOUND ? GT_EXIT_NO_PROGRAM : GT_EXIT_CANNOT_RUN, "%s",
            err.text);
    return 0;
}

static void say_removed(const struct gt_record_recording *r)
{
    g_autofree char *parts = g_strconcat(r->shown, GT_COMPACT_WORK_ENDING, NULL);
    if (r->compact && access(parts, F_OK) == 0)
        gt_record_say("%s was moved while it was recorded, and its names are in %s: move it back, "
                      "then: guesttrace repair %s",
                      r->shown, parts, r->shown);
    else
        gt_record_say("nothing is left: %s was removed while it was recorded", r->shown);
}

static int record(const struct gt_cli_command *self, struct gt_record_recording *r, size_t n,
                  char **operands)
{
    struct gt_error err = {0};
    int status = gt_record_plan(r, n, operands, &err);
    if (status && r->tool->undo)
        r->tool->undo(r);
    if (status == GT_EXIT_USAGE)
        return gt_cli_command_usage_error(self, "%s", err.text);
    if (status)
        return gt_cli_command_fail(self, status, "%s", err.text);
    status = run_qemu(self, r);
    if (status && r->tool->undo)
        r->tool->undo(r);
    if (status)
        return status;
    bool begun = r->tool->finish(r);
    gt_record_names_clear(r); /* its file, before a signal ends us */
    gt_record_arguments_clear(r);
    if (!begun && WIFEXITED(r->wait_status) && WEXITSTATUS(r->wait_status) == GT_RECORD_QEMU_FAILED)
        return GT_EXIT_OWN; /* the guest has not run */
    bool lost = !begun && gt_record_output_is_removed(r);
    if (lost)
        say_removed(r);
    if ((lost || r->left_nothing) && WIFEXITED(r->wait_status) && WEXITSTATUS(r->wait_status) == 0)
        return GT_EXIT_OWN; /* a status of the guest's own stays */
    return gt_record_child_end_like(r->wait_status);
}

static int run_record(const struct gt_cli_command *self, const void *options, size_t n,
                      char **operands)
{
    struct gt_record_recording r = {.opt = options};
    gt_record_child_ignore_broken_pipes(); /* our messages may have no reader; the guest goes on */
    r.tool = find_tool(gt_cli_options_chosen(&self->spec, options)->name);
    int status = record(self, &r, n, operands);
    gt_record_clear(&r);
    return status;
}

const struct gt_cli_command gt_cli_command_record = {
    .name = "record",
    .summary = "record what a program or a machine executes: function calls, code and memory "
               "accesses, every instruction, or trace events",
    .usage = (const char *const[]){"[OPTIONS] PROGRAM [ARGS...]",
                                   "[OPTIONS] -- QEMU-COMMAND [ARGS...]", NULL},
    .paragraphs =
        (const char *const[]){
            "PROGRAM is an ELF file of an architecture that guesttrace supports. It runs under the "
            "first user-mode QEMU in PATH that is for its machine and can load plugins, with the "
            "libraries of an installed cross toolchain if it needs them.",
            "QEMU-COMMAND is a QEMU, or a script that passes its arguments to one; its name must "
            "begin with qemu-. record inserts the plugin's option before its arguments.",
            "The program uses the terminal and receives signals as without guesttrace; record "
            "exits with its status.",
            NULL},
    .spec = {.table = record_table,
             .groups = tool_options,
             .chooser = "tool",
             .stop_at_operand = true},
    .options_size = sizeof(struct gt_record_options),
    .operands = GT_OPERANDS_PROGRAM,
    .run = run_record,
};
