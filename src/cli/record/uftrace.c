/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recording function calls: libuftrace.so's arguments, and the steps after the run: repairing the
 * recording after a crash, adding symbols, and printing its size and exactness.
 */
#include "cli/record/recording.h"

#include "calls/file/file.h"
#include "calls/file/set.h"
#include "calls/repair/repair.h"
#include "cli/amount.h"
#include "cli/default_recording.h"
#include "cli/record/arguments.h"
#include "cli/record/causes.h"
#include "cli/record/console.h"
#include "cli/record/flight.h"
#include "cli/record/names.h"
#include "cli/record/qemu.h"
#include "recording/directory/dir.h"
#include "recording/texts/stats.h"
#include "track/counters.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void uftrace_arguments(const struct gt_record_recording *r, GString *out)
{
    const struct gt_record_options *opt = r->opt;
    const char *abi = gt_record_names_abi(r);
    g_string_append(out, ",output=");
    gt_record_qemu_append_value(out, r->output);
    g_string_append(out, r->compact ? ",format=compact,summary=off" : ",summary=off");
    if (opt->last)
        g_string_append_printf(out, ",last=%s", opt->last);
    if (opt->split)
        g_string_append_printf(out, ",split=%s", opt->split);
    if (opt->size_limit)
        g_string_append_printf(out, ",size-limit=%s", opt->size_limit);
    if (opt->clock)
        g_string_append_printf(out, ",clock=%s", opt->clock);
    if (opt->depth)
        g_string_append_printf(out, ",depth=%" PRIu64, opt->depth);
    if (opt->tasks)
        g_string_append_printf(out, ",tasks=%s", opt->tasks);
    if (opt->max_tasks)
        g_string_append_printf(out, ",max-tasks=%" PRIu64, opt->max_tasks);
    if (opt->no_tail_calls)
        g_string_append(out, ",tail-calls=off");
    if (opt->privilege_levels)
        g_string_append(out, ",trace-privilege-level=on");
    if (opt->srcline && r->user_mode) /* a machine's are in the code map */
        g_string_append(out, ",srcline=on");
    gt_record_filters_arguments(r, out);
    gt_record_arguments_append(r, out);
    gt_record_causes_arguments(r->causes, out);
    gt_record_qemu_append_path(out, "control", opt->control);
    if (r->code) {
        g_string_append(out, ",code=");
        gt_record_qemu_append_value(out, r->code);
    }
    if (abi)
        g_string_append_printf(out, ",abi=%s", abi);
}

static bool uftrace_switches(const struct gt_record_recording *r)
{
    const GPtrArray *triggers = r->opt->filters.triggers;
    return r->opt->control || gt_record_starts_off(r) || (triggers && triggers->len);
}

static int uftrace_prepare(struct gt_record_recording *r, struct gt_error *err)
{
    struct gt_filter_set *set = NULL;
    int status = gt_record_flight_check(r, err);
    if (status == 0)
        status = gt_record_filters_make(r, &set, err);
    if (status < 0)
        return status;
    status = gt_record_causes_open(r, set, err);
    if (status < 0)
        return status;
    gt_record_flight_mark(r);
    if (gt_record_output_mark(r, err) < 0 || gt_record_output_check(r, err) < 0)
        return err->status;
    gt_repair_mark(r->dir, "info", &r->info_before);
    gt_repair_mark(r->dir, GT_STATS_FILE, &r->stats_before);
    if (!r->opt->no_console && gt_record_console_is_seen(r->machine) &&
        gt_record_console_open(r->dir, &r->console, err) < 0)
        return err->status;
    if (r->console)
        gt_record_console_on_line(r->console, gt_record_causes_line, r->causes);
    status = gt_record_arguments_read(r, err);
    if (status == 0)
        status = gt_record_names_prepare(r, err);
    return status == 0 ? gt_record_arguments_write(r, err) : status;
}

/* ---- after the run ------------------------------------------------------------------------- */

static void say_nothing_recorded(const struct gt_record_recording *r)
{
    if (WIFEXITED(r->wait_status) && WEXITSTATUS(r->wait_status) == 0)
        gt_record_say("nothing was recorded: the plugin was not loaded (does %s pass its arguments"
                      " on to QEMU?)",
                      r->qemu);
    else
        gt_record_say("nothing was recorded: QEMU ended before the plugin started");
}

/* Children that have outlived the process that was waited for go on. A directory may have nothing:
 * the disk was full. */
static int open_edit(struct gt_record_recording *r, struct gt_error *err)
{
    int status = gt_repair_edit_open(r->output, true, NULL, &r->edit, err);
    r->shared = status == GT_E_BUSY;
    if (r->shared)
        status = gt_repair_edit_open(r->output, false, NULL, &r->edit, err);
    if (status < 0 && !r->compact)
        r->edit = (struct gt_repair_edit){.at.dir = r->dir, .lock = -1};
    return r->compact ? status : 0;
}

static void repair(const struct gt_record_recording *r, bool finished)
{
    struct gt_repair_result done;
    struct gt_error err = {0};
    if (r->shared) {
        gt_record_say("the recording is not complete: other processes still record into it; when "
                      "they have ended run guesttrace repair %s",
                      r->shown);
        return;
    }
    int status = gt_repair_recording(&r->edit, !finished, NULL, &done, &err);
    g_autofree char *what = gt_repair_text(&done);
    gt_repair_clear(&done);
    if (status < 0)
        gt_record_say("could not repair all of the recording: %s", err.text);
    if (finished)
        return;
    if (WIFSIGNALED(r->wait_status))
        gt_record_say("%s was killed (%s); the recording was completed: %s",
                      r->user_mode ? "the program" : "QEMU", strsignal(WTERMSIG(r->wait_status)),
                      what);
    else
        gt_record_say("the plugin did not finish; the recording was completed: %s", what);
}

static void add_console(const struct gt_record_recording *r)
{
    struct gt_error err = {0};
    if (r->console && gt_record_console_finish(r->console, &r->edit.at, &err) < 0)
        gt_record_say("no console lines: %s", err.text);
}

static void say_losses(const struct gt_recording_stats *s)
{
    const char *error = gt_recording_stats_text(s, "error");
    uint64_t lost = gt_recording_stats_number(s, "lost_records");
    g_autofree char *n = gt_cli_amount_exact(lost);
    if (error && error[0])
        gt_record_say("the recording is incomplete: %s", error);
    if (lost)
        gt_record_say("%s records were lost; the trace says where (guesttrace:lost)", n);
}

static uint64_t count_anomalies(const struct gt_recording_stats *s)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < s->n; i++)
        if (g_str_has_prefix(s->item[i].key, GT_STATS_ANOMALY))
            sum += gt_recording_stats_number(s, s->item[i].key);
    return sum;
}

/* Calls of which no return was seen: all that were followed, but those that are matched. */
static void say_others(uint64_t calls, uint64_t matched, bool anomalies)
{
    g_autofree char *n = gt_cli_amount_exact(calls > matched ? calls - matched : 0);
    if (calls > matched)
        gt_record_say("the other %s calls ended without a return of their own: by a jump to "
                      "another function, by unwinding, %sor with their task's records",
                      n, anomalies ? "at an anomaly, " : "");
}

static void say_returns(const struct gt_recording_stats *s)
{
    uint64_t matched = gt_recording_stats_number(s, "matched"), anomalies = count_anomalies(s);
    g_autofree char *n = gt_cli_amount_exact(matched), *odd = gt_cli_amount_exact(anomalies);
    if (anomalies)
        gt_record_say("%s returns matched their calls, %s anomalies: %.2f %% matched", n, odd,
                      /* rounded down: 99.999 must not read as 100 */
                      floor((double)matched / (double)(matched + anomalies) * 10000) / 100);
    else
        gt_record_say("all %s returns matched their calls", n);
    say_others(gt_recording_stats_number(s, "calls_tracked"), matched, anomalies > 0);
}

/* Reports the counters of one kind, by the keys' prefix. */
static void say_counters(const struct gt_recording_stats *s, const char *prefix, const char *word)
{
    for (size_t i = 0; i < s->n; i++) {
        const char *key = s->item[i].key;
        uint64_t count = gt_recording_stats_number(s, key);
        if (!g_str_has_prefix(key, prefix) || count == 0)
            continue;
        const char *name = key + strlen(prefix), *text = gt_track_counter_text(name);
        g_autofree char *n = gt_cli_amount_exact(count);
        gt_record_say("%s: %s %s%s%s", word, n, name, text ? ": " : "", text ? text : "");
    }
}

/* Of files: all of them. */
static uint64_t size_of(const struct gt_record_recording *r, const struct gt_recording_stats *s)
{
    uint64_t size = 0;
    if (!r->compact || gt_compact_set_size(r->output, &size) < 0)
        return gt_recording_stats_number(s, "bytes");
    return size;
}

static void say_summary(const struct gt_record_recording *r, const struct gt_recording_stats *s)
{
    uint64_t tasks = gt_recording_stats_number(s, "tasks");
    uint64_t recorded = gt_recording_stats_number(s, "calls"),
             all = gt_recording_stats_number(s, "calls_tracked");
    g_autofree char *calls = gt_cli_amount_exact(recorded), *tracked = gt_cli_amount_exact(all);
    g_autofree char *bytes = gt_cli_amount_short(size_of(r, s));
    bool some = recorded < all; /* filters, --depth */
    gt_record_say("%s%s%s calls in %" PRIu64 " task%s, %sB, %.1f s", calls, some ? " of " : "",
                  some ? tracked : "", tasks, tasks == 1 ? "" : "s", bytes, r->seconds);
    say_returns(s);
    say_counters(s, GT_STATS_ANOMALY, "anomaly");
    say_counters(s, GT_STATS_COUNT, "count");
    const char *outside = gt_recording_stats_text(s, GT_STATS_OUTSIDE);
    if (outside)
        gt_record_say("the program went on as %s outside QEMU: that is not recorded", outside);
}

/* What the plugin counted and wrote; where it wrote nothing, it has said why if it saw a call. */
static bool say_finished(struct gt_record_recording *r, const struct gt_recording_stats *s)
{
    say_losses(s);
    if (gt_recording_stats_text(s, "bytes") && gt_recording_stats_number(s, "bytes") == 0) {
        uint64_t calls = gt_recording_stats_number(s, "calls"),
                 all = gt_recording_stats_number(s, "calls_tracked");
        g_autofree char *tracked = gt_cli_amount_exact(all);
        r->left_nothing = calls == 0 && all > 0;
        if (all == 0 && gt_record_starts_off(r))
            gt_record_say("nothing was recorded: recording was off all the time");
        else if (calls == 0 && all == 0 && r->machine && WIFEXITED(r->wait_status) &&
                 WEXITSTATUS(r->wait_status) == GT_RECORD_QEMU_FAILED)
            gt_record_say("nothing was recorded: QEMU ended with an error before the "
                          "guest ran; its own message says why");
        else if (calls == 0 && all == 0)
            gt_record_say("nothing was recorded: the guest made no calls");
        else if (calls == 0)
            gt_record_say("nothing was recorded: filters have left nothing of %s calls", tracked);
        return false;
    }
    if (!r->opt->quiet)
        say_summary(r, s);
    return true;
}

static bool has_records(const struct gt_record_recording *r)
{
    uint64_t time;
    return gt_repair_records_begin(&r->edit.at, &time, NULL) == 1;
}

/* The plugin has described a recording that was not there before. */
static bool is_described(const struct gt_record_recording *r)
{
    struct gt_repair_mark info;
    gt_repair_mark(r->dir, "info", &info);
    return info.ino && !gt_repair_mark_same(&info, &r->info_before);
}

/* False: nothing was recorded, and *begun says whether the plugin started. */
static bool open_recording(struct gt_record_recording *r, bool *begun)
{
    struct gt_error err = {0};
    *begun = gt_record_output_has_begun(r) || (!r->compact && is_described(r));
    if (!*begun && !gt_record_output_is_removed(r))
        say_nothing_recorded(r);
    if (!*begun)
        return false;
    if (open_edit(r, &err) < 0) {
        gt_record_say("%s", err.text);
        return false;
    }
    if (is_described(r))
        return true;
    if (WIFSIGNALED(r->wait_status)) /* else the plugin has said why */
        gt_record_say("nothing was recorded: %s was killed (%s) before the plugin wrote",
                      r->user_mode ? "the program" : "QEMU", strsignal(WTERMSIG(r->wait_status)));
    gt_repair_edit_close(&r->edit, false, NULL);
    return false;
}

static void close_recording(struct gt_record_recording *r, bool changed)
{
    struct gt_error err = {0};
    if (gt_repair_edit_close(&r->edit, changed, &err) < 0)
        gt_record_say("%s; run guesttrace repair %s", err.text, r->shown);
}

/* ---- flight recorders ---------------------------------------------------------------------- */

/* The last snapshot, which the plugin has not made. */
static void complete_last(struct gt_record_recording *r)
{
    struct gt_recording_stats stats;
    struct gt_error err = {0};
    bool finished = gt_repair_stats_read(r->dir, &r->stats_before, &stats, NULL) == 0;
    if (finished)
        gt_recording_stats_clear(&stats);
    if (gt_repair_edit_open(r->output, true, NULL, &r->edit, &err) < 0) {
        gt_record_say("%s; run guesttrace repair %s", err.text, r->shown);
        return;
    }
    repair(r, finished);
    close_recording(r, true);
}

/* Names and console lines of a machine. */
static void finish_snapshot(struct gt_record_recording *r, const char *path)
{
    struct gt_error err = {0};
    g_autofree char *dir = g_strconcat(path, GT_COMPACT_WORK_ENDING, NULL);
    char *own = r->dir;
    if (gt_repair_edit_open(path, true, NULL, &r->edit, &err) < 0) {
        gt_record_say("%s", err.text);
        return;
    }
    r->dir = dir;
    gt_record_names_finish(r);
    add_console(r);
    r->dir = own;
    close_recording(r, true);
}

/* What the plugin counted; only the last one has it. */
static void say_stats(const char *path)
{
    struct gt_compact_file file;
    struct gt_recording_stats stats;
    char *text;
    size_t size;
    if (gt_compact_file_open(path, &file, NULL) < 0)
        return;
    if (gt_compact_file_text(&file, GT_STATS_FILE, &text, &size, NULL) == 0 &&
        gt_recording_stats_parse(&stats, text) == 0) {
        say_losses(&stats);
        say_returns(&stats);
        gt_recording_stats_clear(&stats);
    }
    gt_compact_file_close(&file);
}

static void say_snapshots(const struct gt_record_recording *r, const GPtrArray *files)
{
    for (guint i = 0; i < files->len; i++) {
        struct stat st = {0};
        stat(files->pdata[i], &st);
        g_autofree char *bytes = gt_cli_amount_short((uint64_t)st.st_size);
        gt_record_say("snapshot: %s, %sB", (const char *)files->pdata[i], bytes);
    }
    say_stats(files->pdata[files->len - 1]);
    gt_record_say("%u snapshot%s, %.1f s; view the last one with: guesttrace report %s", files->len,
                  files->len == 1 ? "" : "s", r->seconds,
                  (const char *)files->pdata[files->len - 1]);
}

static bool finish_flight(struct gt_record_recording *r)
{
    bool open = gt_record_flight_is_open(r);
    if (open)
        complete_last(r);
    g_autoptr(GPtrArray) files = gt_record_flight_files(r);
    for (guint i = 0; i < files->len && r->machine; i++)
        finish_snapshot(r, files->pdata[i]);
    if (files->len && !r->opt->quiet)
        say_snapshots(r, files);
    else if (!files->len && !open)
        say_nothing_recorded(r);
    return open || files->len;
}

static bool uftrace_finish(struct gt_record_recording *r)
{
    bool begun;
    gt_record_causes_report(r);
    if (r->opt->last)
        return finish_flight(r);
    if (!open_recording(r, &begun))
        return begun;
    struct gt_recording_stats stats;
    bool finished = gt_repair_stats_read(r->dir, &r->stats_before, &stats, NULL) == 0 &&
                    gt_recording_stats_number(&stats, GT_STATS_UNFINISHED) == 0;
    bool whole = finished && !WIFSIGNALED(r->wait_status);
    if (!whole)
        repair(r, finished);
    gt_record_names_finish(r);
    add_console(r);
    bool some = has_records(r);
    close_recording(r, !whole || r->machine);
    bool see = finished ? say_finished(r, &stats) : some;
    g_autofree char *shown = gt_record_output_quote(r);
    if (see && !r->opt->quiet)
        gt_record_say("view it with: %s %s", r->compact ? "guesttrace view" : "uftrace replay -d",
                      shown);
    gt_recording_stats_clear(&stats);
    return true;
}

const struct gt_record_tool gt_record_tool_uftrace = {
    .name = "uftrace",
    .plugin = "libuftrace.so",
    .output = GT_DEFAULT_DIRECTORY,
    .file = GT_DEFAULT_FILE,
    .record = 16,
    .code_map = true,
    .needs_machine = true,
    .arguments = uftrace_arguments,
    .switches = uftrace_switches,
    .prepare = uftrace_prepare,
    .finish = uftrace_finish,
};

/* ---- options -------------------------------------------------------------------------------- */

const struct gt_cli_option gt_record_options_uftrace[] = {
    {"format", .type = GT_OPTION_CHOICE, .value = "FORM",
     .choices = (const char *const[]){"compact", "uftrace", NULL},
     .help = "select the recording's format: compact, one small file for 'guesttrace report' and "
             "others (the default); uftrace, a directory that uftrace reads",
     .heading = GT_UNDER_OUTPUT, GT_RECORD_FIELD(format)},
    {"last", .type = GT_OPTION_TEXT, .value = "SIZE|TIME",
     .help =
         "keep only what came last, as 64M or 10s (--clock insn: 1 s is 1e9 instructions), in a "
         "ring beside PATH; write it to PATH, PATH.1 ... at SIGUSR2, at a trigger with "
         "snapshot, and at the end",
     .heading = GT_UNDER_OUTPUT | GT_OPTION_FIRST, GT_RECORD_FIELD(last)},
    {"split", .type = GT_OPTION_TEXT, .value = "SIZE|TIME",
     .help = "go on in a new file when one is as big or as old, as 64M, 10s "
             "or 5min; the earlier ones become PATH.1, PATH.2 ..., PATH shows all of them",
     .heading = GT_UNDER_OUTPUT, GT_RECORD_FIELD(split)},
    {"size-limit", .type = GT_OPTION_TEXT, .value = "SIZE",
     .help = "write at most SIZE bytes, as 1G; then the recording ends and "
             "the guest goes on. With --split: remove the oldest files instead",
     .heading = GT_UNDER_OUTPUT, GT_RECORD_FIELD(size_limit)},
    {"clock", .type = GT_OPTION_CHOICE, .value = "CLOCK",
     .choices = (const char *const[]){"insn", "host", "auto", NULL},
     .help = "select the time base: retired instructions (the same in every run), the host's "
             "clock, or instructions while there is only one thread or vCPU (default: auto)",
     .heading = GT_UNDER_WHAT, GT_RECORD_FIELD(clock)},
    GT_RECORD_FILTERS,
    {"depth", 'D', GT_OPTION_NUMBER, .value = "N", .min = 1, .max = 1u << 20,
     .help = "record calls up to this depth (default: 1024), which counts from where filters begin",
     .heading = GT_UNDER_FILTERS | GT_OPTION_FIRST, GT_RECORD_FIELD(depth)},
    {"no-tail-calls", .type = GT_OPTION_FLAG,
     .help = "do not show jumps from one function into another as calls", .heading = GT_UNDER_WHAT,
     GT_RECORD_FIELD(no_tail_calls)},
    {"privilege-levels", .type = GT_OPTION_FLAG,
     .help = "record each privilege level of a machine as a task of its own",
     .heading = GT_UNDER_WHAT, GT_RECORD_FIELD(privilege_levels)},
    {"srcline", .type = GT_OPTION_FLAG,
     .help = "record the functions' source lines (of programs compiled with -g), for filters by "
             "file and line when the recording is read, and for 'uftrace replay --srcline'",
     .heading = GT_UNDER_WHAT, GT_RECORD_FIELD(srcline)},
    {"tasks", .type = GT_OPTION_CHOICE, .value = "KIND",
     .choices = (const char *const[]){"stack", "cpu", NULL},
     .help =
         "make a task of each call stack of a machine's guest, or of each vCPU (default: stack)",
     .heading = GT_UNDER_WHAT, GT_RECORD_FIELD(tasks)},
    {"max-tasks", .type = GT_OPTION_NUMBER, .value = "N", .min = 1, .max = 1000000,
     .help = "record at most N tasks of a machine (default: 1024)", .heading = GT_UNDER_WHAT,
     GT_RECORD_FIELD(max_tasks)},
    {"symbols", .type = GT_OPTION_FILE, .repeat = true, .value = "FILE[:OFFSET]",
     .help = "name a machine's functions from this file too, as 'guesttrace symbols' does; or from "
             "all kernel modules (.ko) below this folder",
     .heading = GT_UNDER_NAMES | GT_OPTION_FIRST, GT_RECORD_FIELD(symbols)},
    GT_RECORD_NO_FOLLOW_EXEC,
    {"control", .type = GT_OPTION_TEXT, .old = "--trace-socket", .value = "SOCKET",
     .help = "accept commands of 'guesttrace ctl' at this socket while the guest runs: status, "
             "flush, on, off, filter, trigger, snapshot",
     .heading = GT_UNDER_CONTROL, GT_RECORD_FIELD(control)},
    {"no-console", .type = GT_OPTION_FLAG,
     .help = "do not show the lines of a machine's console on standard output among the functions",
     .heading = GT_UNDER_OUTPUT, GT_RECORD_FIELD(no_console)},
    {0},
};
