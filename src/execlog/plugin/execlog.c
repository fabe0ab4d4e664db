/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libexeclog.so: logs each instruction that a guest runs. Arguments and wiring; recorder.h says
 * what the other files do. */
#include "base/socket.h"
#include "execlog/plugin/exec.h"
#include "execlog/plugin/finish.h"
#include "execlog/plugin/recorder.h"
#include "qemu/support/args.h"
#include "qemu/support/execs.h"
#include "qemu/support/messages.h"
#include "qemu/support/tracing.h"

#include <string.h>

const char gt_host_tool_name[] = "execlog";
enum { WAIT_SECONDS = 60, LIMIT = 16 << 20 };

static const char *const formats[] = {"text", "binary", NULL};
static const struct gt_exlog_sink *const sinks[] = {&gt_exlog_text, &gt_exlog_binary};

struct options {
    const char *output;
    int format; /* index of `formats` */
    bool values, follow_exec;
    uint64_t wait_seconds;
};

static int parse_arguments(struct gt_exlog *e, struct options *o, int argc, char **argv,
                           struct gt_error *err)
{
    const struct gt_support_arg arguments[] = {
        {"ifilter", GT_ARG_EACH, e, .each = gt_exlog_add_prefix},
        {"afilter", GT_ARG_EACH, e, .each = gt_exlog_add_address},
        {"reg", GT_ARG_EACH, e, .each = gt_exlog_add_glob},
        {"rdisas", GT_ARG_SWITCH, &e->registers.rdisas},
        {"range", GT_ARG_EACH, e, .each = gt_exlog_add_range},
        {"sym", GT_ARG_EACH, e, .each = gt_exlog_add_symbol},
        {"elf", GT_ARG_EACH, e, .each = gt_exlog_add_elf},
        {"start", GT_ARG_EACH, e, .each = gt_exlog_add_start},
        {"stop", GT_ARG_EACH, e, .each = gt_exlog_add_stop},
        {"every", GT_ARG_NUMBER, &e->every, .min = 1, .max = UINT64_MAX},
        {"last", GT_ARG_NUMBER, &e->last.lines, .min = 1, .max = 100000000},
        {"output", GT_ARG_TEXT, &o->output},
        {"out", GT_ARG_TEXT, &o->output},
        {"format", GT_ARG_CHOICE, &o->format, .choices = formats},
        {"values", GT_ARG_SWITCH, &o->values},
        {"follow-exec", GT_ARG_SWITCH, &o->follow_exec},
        {"wait", GT_ARG_NUMBER, &o->wait_seconds, .min = 0, .max = 1000000},
        GT_TRACING_CONTROL,
        GT_TRACING_ARGUMENTS,
        {0},
    };
    int status = gt_support_args_parse(arguments, argc, argv, err);
    e->registers.rdisas = e->registers.rdisas && e->registers.globs;
    e->selective = e->selective || e->every > 1;
    e->sink = sinks[o->format];
    e->values = o->format && o->values && gt_host_can(GT_HOST_MEMORY_VALUES);
    return status;
}

static int open_packet_sink(struct gt_exlog *e, const struct options *o, struct gt_error *err)
{
    g_autofree char *target = o->output ? gt_execs_own_path(o->output) : NULL;
    struct gt_packet_sink_options options = {
        .target = target,
        .limit = LIMIT,
        .wait_seconds = (unsigned)o->wait_seconds,
    };
    if (!o->output && o->format)
        return gt_error_set(err, GT_E_USAGE,
                            "argument format=%s: expected output=FILE or "
                            "output=unix:PATH, too: QEMU's log takes text",
                            formats[o->format]);
    if (!o->output)
        return 0;
    e->live = strncmp(o->output, "unix:", 5) == 0;
    gt_socket_listeners_watch_signals();
    int status = e->sink->options(e, &options, err);
    if (status == 0)
        status = gt_packet_sink_create(&options, &e->packet_sink, err);
    if (status == 0)
        gt_support_sink_message_report(e->packet_sink);
    if (status == 0 && !gt_support_sink_end_is_seen(&e->host))
        gt_packet_sink_expect_end(e->packet_sink);
    return status;
}

/* Where registers are checked each instruction has a callback: stores would add nothing. */
static void choose_scoreboard(struct gt_exlog *e)
{
    if (e->registers.globs || !gt_host_can(GT_HOST_SCOREBOARD))
        return;
    e->scoreboard = gt_host_scoreboard_new(sizeof(uint64_t));
    e->scoreboard_moves = e->stores = true;
}

static const struct gt_host_events events = {
    .vcpu_init = gt_exlog_on_vcpu_init,
    .vcpu_exit = gt_exlog_on_vcpu_exit,
    .vcpu_idle = gt_exlog_on_vcpu_idle,
    .translate = gt_exlog_on_translate,
    .flush = gt_exlog_on_flush,
    .syscall = gt_exlog_on_syscall,
    .syscall_return = gt_exlog_on_syscall_return,
    .shutdown = gt_exlog_on_shutdown,
    .exit = gt_exlog_on_exit,
};

int gt_host_tool_install(const struct gt_host_info *info, int argc, char **argv,
                         struct gt_error *err)
{
    struct gt_exlog *e = gt_exlog_loaded();
    struct options o = {.values = true, .wait_seconds = WAIT_SECONDS};
    int status = gt_exlog_init(e, info, err);
    if (status == 0)
        status = parse_arguments(e, &o, argc, argv, err);
    if (status == 0)
        status = gt_exlog_find_functions(e, err);
    if (status == 0)
        status = gt_exlog_watch_forks(e, o.follow_exec ? o.output : NULL, err);
    if (status == 0)
        status = gt_support_tracing_start(err);
    if (status == 0)
        status = open_packet_sink(e, &o, err);
    if (status < 0)
        return status;
    if (e->last.lines)
        gt_exlog_last_insert(e);
    choose_scoreboard(e);
    gt_host_subscribe(&events, e);
    gt_host_on_abnormal_exit(gt_exlog_on_abnormal_exit);
    return 0;
}
