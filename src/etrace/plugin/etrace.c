/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libetrace.so: records the code that a guest runs, and the memory that it touches, as an etrace
 * stream. Arguments and wiring; recorder.h says what the other files do.
 *
 * QEMU keeps the argument name `file` for itself and splits `flags=exec,mem` at the comma, so that
 * `mem` arrives as `mem=on`: the target is called `output` as well, flags may be joined by `+`, and
 * each is an argument of its own, too.
 */
#include "base/socket.h"
#include "etrace/plugin/exec.h"
#include "etrace/plugin/finish.h"
#include "etrace/plugin/recorder.h"
#include "qemu/support/args.h"
#include "qemu/support/execs.h"
#include "qemu/support/messages.h"
#include "qemu/support/tracing.h"

#include <string.h>

const char gt_host_tool_name[] = "etrace";

enum clock_kind { CLOCK_AUTO, CLOCK_INSN, CLOCK_HOST };

enum {
    LIMIT = 16 << 20,
    WAIT_SECONDS = 60,
    ALL =
        GT_ETRACE_F_EXEC | GT_ETRACE_F_DISAS | GT_ETRACE_F_MEM | GT_ETRACE_F_CPU | GT_ETRACE_F_GPIO,
};

static const struct {
    const char *name;
    unsigned flags;
} flag_names[] = {
    {"none", 0},
    {"exec", GT_ETRACE_F_EXEC},
    {"disas", GT_ETRACE_F_DISAS},
    {"mem", GT_ETRACE_F_MEM},
    {"cpu", GT_ETRACE_F_CPU},
    {"gpio", GT_ETRACE_F_GPIO},
    {"coverage", GT_ETRACE_F_COVERAGE},
    {"all", ALL},
};
enum { N_FLAGS = sizeof flag_names / sizeof flag_names[0] };

struct options {
    const char *output, *flags, *control;
    int clock_kind; /* enum clock_kind */
    uint64_t wait_seconds;
    bool reconnect, drop, follow_exec, flag_on[N_FLAGS];
};

static int parse_arguments(struct options *o, int argc, char **argv, struct gt_error *err)
{
    static const char *const clocks[] = {
        [CLOCK_AUTO] = "auto", [CLOCK_INSN] = "insn", [CLOCK_HOST] = "host", NULL};
    const struct gt_support_arg arguments[] = {
        {"output", GT_ARG_TEXT, &o->output},
        {"file", GT_ARG_TEXT, &o->output},
        {"out", GT_ARG_TEXT, &o->output},
        {"flags", GT_ARG_TEXT, &o->flags},
        {"clock", GT_ARG_CHOICE, &o->clock_kind, .choices = clocks},
        {"control", GT_ARG_TEXT, &o->control},
        {"reconnect", GT_ARG_SWITCH, &o->reconnect},
        {"drop", GT_ARG_SWITCH, &o->drop},
        {"follow-exec", GT_ARG_SWITCH, &o->follow_exec},
        {"wait", GT_ARG_NUMBER, &o->wait_seconds, .min = 0, .max = 1000000},
        {"none", GT_ARG_SWITCH, &o->flag_on[0]},
        {"exec", GT_ARG_SWITCH, &o->flag_on[1]},
        {"disas", GT_ARG_SWITCH, &o->flag_on[2]},
        {"mem", GT_ARG_SWITCH, &o->flag_on[3]},
        {"cpu", GT_ARG_SWITCH, &o->flag_on[4]},
        {"gpio", GT_ARG_SWITCH, &o->flag_on[5]},
        {"coverage", GT_ARG_SWITCH, &o->flag_on[6]},
        {"all", GT_ARG_SWITCH, &o->flag_on[7]},
        GT_TRACING_ARGUMENTS,
        {0},
    };
    int status = gt_support_args_parse(arguments, argc, argv, err);
    return status < 0 ? status : gt_support_tracing_take_old_socket(&o->control, err);
}

static int add_flag(struct options *o, const char *word, size_t n, struct gt_error *err)
{
    for (size_t i = 0; i < N_FLAGS; i++)
        if (strlen(flag_names[i].name) == n && strncmp(flag_names[i].name, word, n) == 0) {
            o->flag_on[i] = true;
            return 0;
        }
    return gt_error_set(err, GT_E_USAGE,
                        "argument flags=%.200s: unknown flag %.*s: expected some of none, exec, "
                        "disas, mem, cpu, gpio, coverage, all",
                        o->flags, n < 100 ? (int)n : 100, word);
}

static int parse_flags(struct options *o, struct gt_error *err)
{
    const char *at = o->flags ? o->flags : "exec";
    for (size_t n; at; at = at[n] ? at + n + 1 : NULL) {
        n = strcspn(at, ",+");
        int status = add_flag(o, at, n, err);
        if (status < 0)
            return status;
    }
    return 0;
}

static int parse_options(struct options *o, int argc, char **argv, struct gt_error *err)
{
    int status = parse_arguments(o, argc, argv, err);
    if (status == 0)
        status = parse_flags(o, err);
    if (status < 0)
        return status;
    if (!o->output)
        return gt_error_set(
            err, GT_E_USAGE,
            "expected output=FILE or output=unix:PATH (QEMU takes file= for itself)");
    return 0;
}

/* A flag that was asked for by name is refused where the host lacks the feature; `all` leaves it
 * out. */
static int check_host(struct gt_etrace *e, bool all, struct gt_error *err)
{
    e->values = gt_host_can(GT_HOST_MEMORY_VALUES);
    int abi = e->host.abi;
    if (e->flags & GT_ETRACE_F_CPU && !gt_host_can(GT_HOST_REGISTERS)) {
        if (!all)
            return gt_error_set(err, GT_E_UNSUPPORTED,
                                "argument flags=cpu: this QEMU (plugin ABI %d) cannot read "
                                "registers; 9.0 and later can",
                                abi);
        e->flags &= ~(unsigned)GT_ETRACE_F_CPU;
        gt_host_message("flags=all: no registers: this QEMU (plugin ABI %d) cannot read them; 9.0 "
                        "and later can",
                        abi);
    }
    if (e->flags & GT_ETRACE_F_GPIO && e->host.system && !gt_host_can(GT_HOST_DEVICES)) {
        if (!all)
            return gt_error_set(err, GT_E_UNSUPPORTED,
                                "argument flags=gpio: this QEMU (10.2 or 11.0) tells plugins of no "
                                "access that it is a device's; 10.0 and 11.1 do");
        gt_host_message("flags=all: no accesses to devices: this QEMU (10.2 or 11.0) tells plugins "
                        "of none; 10.0 and 11.1 do");
    }
    if (e->flags & (GT_ETRACE_F_MEM | GT_ETRACE_F_GPIO) && !e->values)
        gt_host_message("values of memory accesses are 0: this QEMU (plugin ABI %d) does not "
                        "report them; 9.1 and later do",
                        abi);
    return 0;
}

static int open_sink(struct gt_etrace *e, const struct options *o, struct gt_error *err)
{
    g_autofree char *target = gt_execs_own_path(o->output);
    struct gt_packet_sink_options options = {
        .target = target,
        .buffer_size = GT_ETRACE_BUFFER,
        .limit = LIMIT,
        .wait_seconds = (unsigned)o->wait_seconds,
        .drop = o->drop,
        .reconnect = o->reconnect,
        .head = gt_etrace_put_head,
        .mark = gt_etrace_put_dropped,
        .provisional = gt_etrace_copy_tail,
        .tick = gt_etrace_on_tick,
        .self = e,
    };
    e->live = strncmp(o->output, "unix:", 5) == 0;
    int status = gt_packet_sink_create(&options, &e->sink, err);
    if (status == 0)
        gt_support_sink_message_report(e->sink);
    if (status == 0 && !gt_support_sink_end_is_seen(&e->host))
        gt_packet_sink_expect_end(e->sink);
    return status;
}

static int start(struct gt_etrace *e, const struct options *o, struct gt_error *err)
{
    for (size_t i = 0; i < N_FLAGS; i++)
        if (o->flag_on[i])
            e->flags |= flag_names[i].flags;
    e->host_clock =
        o->clock_kind == CLOCK_HOST || (o->clock_kind == CLOCK_AUTO && e->host.max_vcpus > 1);
    gt_socket_listeners_watch_signals();
    int status = check_host(e, o->flag_on[N_FLAGS - 1], err);
    gt_etrace_unreported_init(e);
    if (status == 0)
        status = gt_support_tracing_start(err);
    if (status == 0)
        status = open_sink(e, o, err);
    if (status == 0)
        status = gt_etrace_maps_start(e, err);
    if (status == 0)
        status = gt_etrace_watch_forks(e, o->follow_exec ? o->output : NULL, err);
    if (status == 0 && o->control)
        status = gt_etrace_control_start(e, o->control, err);
    return status;
}

/* Counts alone need neither an order nor devices. */
#define EVENTS_OF_COUNTS                                                                           \
    .vcpu_init = gt_etrace_on_vcpu_init, .vcpu_exit = gt_etrace_on_vcpu_exit,                      \
    .vcpu_idle = gt_etrace_on_vcpu_idle, .translate = gt_etrace_on_translate,                      \
    .flush = gt_etrace_on_flush, .syscall = gt_etrace_on_syscall,                                  \
    .syscall_return = gt_etrace_on_syscall_return, .shutdown = gt_etrace_on_shutdown,              \
    .exit = gt_etrace_on_exit

static const struct gt_host_events count_events = {EVENTS_OF_COUNTS};
static const struct gt_host_events events = {EVENTS_OF_COUNTS,
                                             .discontinuity = gt_etrace_on_discontinuity};

static void on_abnormal_exit(int sig)
{
    (void)sig;
    gt_socket_listeners_remove();
}

int gt_host_tool_install(const struct gt_host_info *info, int argc, char **argv,
                         struct gt_error *err)
{
    struct gt_etrace *e = gt_etrace_loaded();
    struct options o = {.wait_seconds = WAIT_SECONDS};
    int status = parse_options(&o, argc, argv, err);
    if (status == 0)
        status = gt_etrace_init(e, info, err);
    if (status == 0)
        status = start(e, &o, err);
    if (status < 0)
        return status;
    gt_host_subscribe(e->flags == GT_ETRACE_F_COVERAGE ? &count_events : &events, e);
    gt_host_on_abnormal_exit(on_abnormal_exit);
    return 0;
}
