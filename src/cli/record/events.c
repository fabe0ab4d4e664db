/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recording trace events at places in the guest: libevents.so's arguments, and a line about the
 * trace. OUTPUT.events has the declarations that OUTPUT was recorded with.
 */
#include "base/file.h"
#include "cli/record/console.h"
#include "cli/record/console_events.h"
#include "cli/record/names.h"
#include "cli/record/qemu.h"
#include "cli/record/stream.h"
#include "events/guest/expand.h"
#include "events/simpletrace/merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const struct gt_cli_option gt_record_options_events[] = {
    {"guest-events", .type = GT_OPTION_FILE, .chooses = true, .value = "FILE",
     .help = "record the trace events that this trace-events file declares at places in the guest "
             "(docs/guest-events.md); selects --tool events",
     .heading = GT_UNDER_WHAT | GT_OPTION_FIRST, GT_RECORD_FIELD(guest_events)},
    {"trace-events", .type = GT_OPTION_FILE, .value = "FILE",
     .help = "enable at the start only the events that FILE names: a pattern a line, with - before "
             "it to disable (QEMU's -trace events=FILE)",
     .heading = GT_UNDER_WHAT | GT_OPTION_FIRST, GT_RECORD_FIELD(trace_events)},
    {"backends", .type = GT_OPTION_TEXT, .value = "NAME[+...]",
     .help = "send the events to simple (the default: the output file), log, ftrace or syslog",
     .heading = GT_UNDER_OUTPUT | GT_OPTION_FIRST, GT_RECORD_FIELD(backends)},
    {"log", .type = GT_OPTION_FILE, .value = "FILE",
     .help = "append the lines of the backend log to FILE (default, for machines only: standard "
             "error)",
     .heading = GT_UNDER_OUTPUT | GT_OPTION_FIRST, GT_RECORD_FIELD(log)},
    {"policy", .type = GT_OPTION_CHOICE, .value = "POLICY",
     .choices = (const char *const[]){"wait", "drop", "overwrite", NULL},
     .help = "when a vCPU's buffer is full, let it wait for the writer (the default), drop events, "
             "or keep only the newest",
     .heading = GT_UNDER_OUTPUT | GT_OPTION_FIRST, GT_RECORD_FIELD(policy)},
    {"no-task", .type = GT_OPTION_FLAG,
     .help = "do not record which task an event is of: QEMU's simpletrace.py can read the output",
     .heading = GT_UNDER_WHAT, GT_RECORD_FIELD(no_task)},
    {"symbols", .type = GT_OPTION_FILE, .repeat = true, .value = "FILE[:OFFSET]",
     .help = "find a machine's functions in this file too, as 'guesttrace symbols' does; or in all "
             "kernel modules (.ko) below this folder",
     .heading = GT_UNDER_NAMES | GT_OPTION_FIRST, GT_RECORD_FIELD(symbols)},
    {"control", .type = GT_OPTION_TEXT, .old = "--trace-socket", .value = "SOCKET",
     .help = "let 'guesttrace ctl' switch the events at this socket while the guest runs",
     .heading = GT_UNDER_CONTROL | GT_OPTION_FIRST, GT_RECORD_FIELD(control)},
    GT_RECORD_NO_FOLLOW_EXEC,
    {0},
};

static bool has_backend(const struct gt_record_recording *r, const char *name)
{
    g_auto(GStrv) names = g_strsplit_set(r->opt->backends, "+,", -1);
    return g_strv_contains((const char *const *)names, name);
}

static bool has_trace(const struct gt_record_recording *r)
{
    return !r->opt->backends || has_backend(r, "simple");
}

static char *declarations(const struct gt_record_recording *r)
{
    return g_strconcat(r->output, GT_TRACE_DECLARATIONS, NULL);
}

static void append(GString *out, const char *name, const char *value)
{
    if (!value)
        return;
    g_string_append_printf(out, ",%s=", name);
    gt_record_qemu_append_value(out, value);
}

static void events_arguments(const struct gt_record_recording *r, GString *out)
{
    const struct gt_record_options *opt = r->opt;
    g_autofree char *file = declarations(r);
    append(out, "guest-events", file);
    append(out, "trace-file", has_trace(r) ? r->output : NULL);
    append(out, "backends", opt->backends);
    gt_record_qemu_append_path(out, "log", opt->log);
    gt_record_qemu_append_path(out, "events", opt->trace_events);
    append(out, "policy", opt->policy);
    append(out, "threads", opt->no_task ? NULL : "on");
    append(out, "tasks", opt->no_task ? "off" : NULL);
    append(out, "code", r->code);
    append(out, "abi", gt_record_names_abi(r));
    gt_record_console_events_arguments(r->console_events, out);
    gt_record_qemu_append_path(out, "control", opt->control);
}

/* The declarations that the plugin gets, and readers of the trace. */
static int write_declarations(struct gt_record_recording *r, struct gt_error *err)
{
    struct gt_text text = {0};
    g_autofree char *path = declarations(r);
    g_autoptr(GPtrArray) files = gt_record_names_paths(r);
    int status =
        gt_events_guest_events_expand(r->opt->guest_events, (const char *const *)files->pdata,
                                      files->len, &text, &r->events, err);
    if (status == 0)
        status = gt_record_console_events_open(r, &r->events, r->opt->guest_events, err);
    if (status == 0)
        status = gt_file_replace_text(path, &text, err);
    gt_text_free(&text);
    return status;
}

/* The file at the declarations' place: an earlier trace's, or somebody's own. It is NAME.old until
 * a new trace has replaced the earlier one. */
static int move_aside(struct gt_record_recording *r, struct gt_error *err)
{
    struct stat there, own;
    g_autofree char *path = declarations(r);
    g_autofree char *old = g_strconcat(path, ".old", NULL);
    if (lstat(path, &there) != 0)
        return 0;
    if (stat(r->opt->guest_events, &own) == 0 && own.st_ino == there.st_ino &&
        own.st_dev == there.st_dev)
        return gt_error_set(
            err, GT_E_USAGE,
            "%s: is the file of --guest-events, and the declarations of the trace %s "
            "are written there: name another output",
            path, r->shown);
    if (rename(path, old) != 0)
        return gt_error_errno(err, errno, "%s: cannot be moved to %s", path, old);
    r->declarations_moved = true;
    return 0;
}

/* Of a trace that was recorded over nothing is kept. */
static void move_back(const struct gt_record_recording *r, bool begun)
{
    g_autofree char *path = declarations(r);
    g_autofree char *old = g_strconcat(path, ".old", NULL);
    if (!r->declarations_moved)
        return;
    if (!begun)
        rename(old, path);
    else if (r->output_before.ino)
        unlink(old);
}

static int events_prepare(struct gt_record_recording *r, struct gt_error *err)
{
    if (!r->opt->guest_events)
        return gt_error_set(err, GT_E_USAGE, "--tool events needs --guest-events FILE");
    if (r->user_mode && r->opt->backends && has_backend(r, "log") && !r->opt->log)
        return gt_error_set(err, GT_E_USAGE,
                            "--backends %s of a program needs --log FILE: standard error is the "
                            "program's",
                            r->opt->backends);
    int status = gt_record_stream_check(r, "a trace", err);
    if (status == 0)
        status = gt_record_names_prepare(r, err);
    if (status == 0)
        status = move_aside(r, err);
    if (status < 0)
        return status;
    status = write_declarations(r, err);
    r->declared = status == 0;
    if (status < 0)
        move_back(r, false);
    return status;
}

/* They belong to a trace; without one nothing is left. */
static void events_undo(const struct gt_record_recording *r)
{
    g_autofree char *path = declarations(r);
    if (r->declared && (r->declarations_moved || !g_file_test(r->output, G_FILE_TEST_EXISTS)))
        unlink(path);
    move_back(r, false);
}

static bool events_finish(struct gt_record_recording *r)
{
    if (r->console)
        gt_record_console_end(r->console);
    gt_record_console_events_report(r->console_events);
    if (!has_trace(r)) {
        move_back(r, false);
        return true;
    }
    bool begun = gt_record_stream_finish(r, "guesttrace events simpletrace");
    if (begun)
        move_back(r, true);
    else
        events_undo(r);
    return begun;
}

const struct gt_record_tool gt_record_tool_events = {
    .name = "events",
    .plugin = "libevents.so",
    .output = "events.trace",
    .code_map = true,
    .needs_machine = true,
    .arguments = events_arguments,
    .prepare = events_prepare,
    .finish = events_finish,
    .undo = events_undo,
};
