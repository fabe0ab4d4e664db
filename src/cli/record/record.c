/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace record`: runs a program or a machine under QEMU and records it. */
#include "cli/command.h"
#include "cli/record/child.h"
#include "cli/record/console.h"
#include "cli/record/names.h"
#include "cli/record/progress.h"
#include "cli/record/qemu.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* What QEMU exits with where it cannot begin: a plugin that is not loaded, arguments that it
 * refuses.
 */
#define QEMU_FAILED 1

static const struct gt_tool *const tools[] = {&gt_tool_uftrace, &gt_tool_etrace, &gt_tool_execlog};
static const char *const tool_names[] = {"uftrace", "etrace", "execlog", NULL};

#define FIELD(name) .offset = offsetof(struct gt_record_options, name)

static const struct gt_option record_table[] = {
    {"output", 'o', GT_OPTION_DIR, .value = "DIR",
     .help =
         "where to write (default: uftrace.data); former uftrace data there is moved to DIR.old."
         " With --tool etrace and execlog: a file (default: etrace.out, execlog.out), or "
         "unix:PATH, a"
         " socket",
     FIELD(output)},
    {"clock", .type = GT_OPTION_CHOICE, .value = "CLOCK",
     .choices = (const char *const[]){"insn", "host", "auto", NULL},
     .help = "what time is: instructions retired (the same in every run), the host's clock, or"
             " instructions as long as there is one thread or vCPU (default: auto)",
     FIELD(clock)},
    {"depth", .type = GT_OPTION_NUMBER, .value = "N", .min = 1, .max = 1u << 20,
     .help = "record calls up to this depth (default: 1024)", FIELD(depth)},
    {"no-tail-calls", .type = GT_OPTION_FLAG,
     .help = "do not show jumps from one function into another as calls", FIELD(no_tail_calls)},
    {"privilege-levels", .type = GT_OPTION_FLAG,
     .help = "trace each privilege level of a machine for itself", FIELD(privilege_levels)},
    {"tasks", .type = GT_OPTION_CHOICE, .value = "KIND",
     .choices = (const char *const[]){"stack", "cpu", NULL},
     .help = "what a task of a machine is: each of the guest's call stacks, or each vCPU"
             " (default: stack)",
     FIELD(tasks)},
    {"max-tasks", .type = GT_OPTION_NUMBER, .value = "N", .min = 1, .max = 1000000,
     .help = "at most so many tasks of a machine (default: 1024)", FIELD(max_tasks)},
    {"symbols", .type = GT_OPTION_FILE, .repeat = true, .value = "FILE[:OFFSET]",
     .help = "name a machine's functions from this file, too, as 'guesttrace symbols' does; or from"
             " all modules of a kernel (.ko) below this folder",
     FIELD(symbols)},
    {"no-console", .type = GT_OPTION_FLAG,
     .help = "do not note the lines that a machine's console prints on standard output among the"
             " functions",
     FIELD(no_console)},
    {"qemu", .type = GT_OPTION_FILE, .value = "QEMU",
     .help = "the user-mode QEMU to run the program with (default: the program's machine says)",
     FIELD(qemu)},
    {"sysroot", 'L', GT_OPTION_DIR, .value = "DIR",
     .help = "where the program's libraries are (default: a cross toolchain's place, if the program"
             " needs one); of a machine: its processes' functions are named from the programs and"
             " libraries below",
     FIELD(sysroot)},
    {"tool", .type = GT_OPTION_CHOICE, .value = "TOOL", .choices = tool_names,
     .help = "what to record: uftrace, function calls (the default); etrace, code that ran and"
             " memory accesses; execlog, each instruction",
     FIELD(tool)},
    {"flags", .type = GT_OPTION_TEXT, .value = "FLAG,...",
     .help = "with --tool etrace: some of exec (the default), mem, disas, cpu, gpio, all, coverage,"
             " none",
     FIELD(flags)},
    {"reconnect", .type = GT_OPTION_FLAG,
     .help = "with --tool etrace: when a socket's reader is gone, begin again with the next one",
     FIELD(reconnect)},
    {"drop", .type = GT_OPTION_FLAG,
     .help = "with --tool etrace: a slow reader loses data, and is told how much; else the guest"
             " waits",
     FIELD(drop)},
    {"wait", .type = GT_OPTION_NUMBER, .value = "SECONDS", .min = 1, .max = 1000000,
     .help = "with --tool etrace, execlog: how long a socket's first reader may take to come "
             "(default: 60)",
     FIELD(wait)},
    {"control", .type = GT_OPTION_TEXT, .value = "PATH",
     .help = "with --tool etrace: a socket that takes commands while the guest runs: counts, flush,"
             " status",
     FIELD(control)},
    {"format", .type = GT_OPTION_CHOICE, .value = "FORM",
     .choices = (const char *const[]){"text", "binary", NULL},
     .help = "with --tool execlog: text (the default), or binary, which is small", FIELD(format)},
    {"reg", .type = GT_OPTION_TEXT, .repeat = true, .value = "GLOB",
     .help = "with --tool execlog: show changes of these registers", FIELD(reg)},
    {"rdisas", .type = GT_OPTION_FLAG,
     .help = "with --tool execlog: look at registers only after instructions that name one",
     FIELD(rdisas)},
    {"ifilter", .type = GT_OPTION_TEXT, .repeat = true, .value = "PREFIX",
     .help = "with --tool execlog: log only instructions whose disassembly begins so",
     FIELD(ifilter)},
    {"afilter", .type = GT_OPTION_TEXT, .repeat = true, .value = "HEX",
     .help = "with --tool execlog: log only the instruction at this address", FIELD(afilter)},
    {"range", .type = GT_OPTION_TEXT, .repeat = true, .value = "LO-HI",
     .help = "with --tool execlog: log only instructions from address LO to before HI, in hex",
     FIELD(range)},
    {"sym", .type = GT_OPTION_TEXT, .repeat = true, .value = "NAME",
     .help = "with --tool execlog: log only instructions of this function", FIELD(sym)},
    {"elf", .type = GT_OPTION_FILE, .repeat = true, .value = "FILE[:OFFSET]",
     .help = "with --tool execlog: functions are those of this file, too, OFFSET further up",
     FIELD(elf)},
    {"start", .type = GT_OPTION_TEXT, .repeat = true, .value = "WHERE[:COUNT]",
     .help = "with --tool execlog: log from there on: a function, or 0xADDRESS; when it has run"
             " COUNT times",
     FIELD(start)},
    {"stop", .type = GT_OPTION_TEXT, .repeat = true, .value = "WHERE[:COUNT]",
     .help = "with --tool execlog: log up to there", FIELD(stop)},
    {"every", .type = GT_OPTION_NUMBER, .value = "N", .min = 1, .max = UINT64_MAX,
     .help = "with --tool execlog: log each N-th instruction", FIELD(every)},
    {"last", .type = GT_OPTION_NUMBER, .value = "N", .min = 1, .max = 100000000,
     .help = "with --tool execlog: keep the last N instructions of each vCPU, and write them at the"
             " end, also where the guest crashes, or at --stop",
     FIELD(last)},
    {"trace", .type = GT_OPTION_TEXT, .value = "PATTERN[+...]",
     .help = "switch on these trace events of the plugin itself (docs/trace-events.md)",
     FIELD(trace)},
    {"trace-file", .type = GT_OPTION_FILE, .value = "FILE",
     .help = "where they are written (default: trace-PID)", FIELD(trace_file)},
    {"trace-socket", .type = GT_OPTION_TEXT, .value = "PATH",
     .help = "a socket at which 'guesttrace ctl' looks at them and switches them while the guest"
             " runs",
     FIELD(trace_socket)},
    {"plugin", .type = GT_OPTION_FILE, .value = "FILE",
     .help = "the plugin to load instead of the tool's", FIELD(plugin)},
    {"quiet", 'q', GT_OPTION_FLAG, .help = "no progress and no summary, errors only", FIELD(quiet)},
    {0},
};

void gt_record_say(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    fputs("guesttrace record: ", stderr);
    vfprintf(stderr, format, ap);
    fputc('\n', stderr);
    va_end(ap);
}

static const struct gt_tool *find_tool(const char *name)
{
    for (size_t i = 0; name && i < G_N_ELEMENTS(tools); i++)
        if (strcmp(tools[i]->name, name) == 0)
            return tools[i];
    return tools[0];
}

/* Runs QEMU to its end; an exit status if it could not be started, else 0. */
static int run_qemu(const struct gt_command *self, struct gt_recording *r)
{
    g_autofree char *version = gt_qemu_version(r->qemu);
    g_auto(GStrv) envp = g_get_environ();
    envp = version ? g_environ_setenv(envp, GT_QEMU_VERSION_VARIABLE, version, TRUE)
                   : g_environ_unsetenv(envp, GT_QEMU_VERSION_VARIABLE);
    char **argv = (char **)r->argv->pdata;
    if (r->qemu_built && !r->opt->quiet)
        gt_record_say("the program runs under QEMU %s, built by scripts/qemus: %s",
                      version ? version : "of an unknown version", r->qemu);
    struct gt_progress progress;
    gt_progress_start(&progress, r->output, r->tool->record);
    bool show = r->tool->record && !r->opt->quiet && gt_progress_possible() &&
                (r->user_mode || !gt_qemu_uses_terminal(argv + 1));
    const struct gt_child child = {
        .path = r->qemu,
        .argv = argv,
        .envp = envp,
        .tick = show ? gt_progress_tick : NULL,
        .data = &progress,
        .output = r->console ? gt_console_output(r->console) : NULL,
    };
    struct gt_error err = {0};
    int status = gt_child_run(&child, &r->wait_status, &err);
    gt_progress_end(&progress);
    r->seconds = gt_progress_seconds(&progress);
    if (status < 0)
        return gt_command_fail(self,
                               status == GT_E_NOT_FOUND ? GT_EXIT_NO_PROGRAM : GT_EXIT_CANNOT_RUN,
                               "%s", err.text);
    return 0;
}

static int record(const struct gt_command *self, struct gt_recording *r, size_t n, char **operands)
{
    struct gt_error err = {0};
    int status = gt_recording_plan(r, n, operands, &err);
    if (status == GT_EXIT_USAGE)
        return gt_command_usage_error(self, "%s", err.text);
    if (status)
        return gt_command_fail(self, status, "%s", err.text);
    status = run_qemu(self, r);
    if (status)
        return status;
    bool begun = r->tool->finish(r);
    gt_record_names_clear(r); /* its file, before a signal ends us */
    if (!begun && WIFEXITED(r->wait_status) && WEXITSTATUS(r->wait_status) == QEMU_FAILED)
        return GT_EXIT_OWN; /* the guest has not run */
    return gt_child_end_like(r->wait_status);
}

static int run_record(const struct gt_command *self, const void *options, size_t n, char **operands)
{
    struct gt_recording r = {.opt = options};
    r.tool = find_tool(r.opt->tool);
    int status = record(self, &r, n, operands);
    gt_recording_clear(&r);
    return status;
}

const struct gt_command gt_command_record = {
    .name = "record",
    .summary = "record what a program or a machine runs: its function calls, its code and "
               "memory accesses, or each instruction",
    .usage = (const char *const[]){"[OPTIONS] PROGRAM [ARGS...]",
                                   "[OPTIONS] -- QEMU-COMMAND [ARGS...]", NULL},
    .paragraphs =
        (const char *const[]){
            "PROGRAM is an ELF file of any machine that guesttrace knows; it runs under the"
            " user-mode QEMU for that machine that is first in PATH and can load plugins, with the"
            " libraries of an installed cross toolchain if it needs them.",
            "QEMU-COMMAND is a QEMU or a script that runs one with the arguments it gets, known by"
            " its name, qemu-SOMETHING. The plugin's option is put before its arguments.",
            "The program has the terminal and gets the signals as if it were run without"
            " guesttrace; its exit status is passed on.",
            NULL},
    .options = record_table,
    .options_size = sizeof(struct gt_record_options),
    .stop_at_operand = true,
    .operands = GT_OPERANDS_PROGRAM,
    .run = run_record,
};
