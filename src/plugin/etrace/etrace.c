/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libetrace.so: records the code that a guest runs, and the memory that it touches, as an etrace
 * stream. Arguments and wiring; what the other files do is said in etrace.h.
 *
 * QEMU keeps the argument name `file` for itself and splits `flags=exec,mem` at the comma, so that
 * `mem` arrives as `mem=on`: the target is called `output` as well, flags may be joined by `+`, and
 * each is an argument of its own, too.
 */
#include "plugin/etrace/etrace.h"

#include "base/socket.h"
#include "plugin/common/args.h"
#include "plugin/common/tracing.h"

#include <string.h>
#include <sys/mman.h>

const char gt_tool_name[] = "etrace";
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

static const char *output, *flags, *control;
static int clock_kind;
static uint64_t wait_seconds = WAIT_SECONDS;
static bool reconnect, drop, flag_on[N_FLAGS];

static const char *const clocks[] = {"auto", "insn", "host", NULL};

static const struct gt_arg arguments[] = {
    {"output", GT_ARG_TEXT, &output},
    {"file", GT_ARG_TEXT, &output},
    {"out", GT_ARG_TEXT, &output},
    {"flags", GT_ARG_TEXT, &flags},
    {"clock", GT_ARG_CHOICE, &clock_kind, .choices = clocks},
    {"control", GT_ARG_TEXT, &control},
    {"reconnect", GT_ARG_SWITCH, &reconnect},
    {"drop", GT_ARG_SWITCH, &drop},
    {"wait", GT_ARG_NUMBER, &wait_seconds, .min = 0, .max = 1000000},
    {"none", GT_ARG_SWITCH, &flag_on[0]},
    {"exec", GT_ARG_SWITCH, &flag_on[1]},
    {"disas", GT_ARG_SWITCH, &flag_on[2]},
    {"mem", GT_ARG_SWITCH, &flag_on[3]},
    {"cpu", GT_ARG_SWITCH, &flag_on[4]},
    {"gpio", GT_ARG_SWITCH, &flag_on[5]},
    {"coverage", GT_ARG_SWITCH, &flag_on[6]},
    {"all", GT_ARG_SWITCH, &flag_on[7]},
    GT_TRACING_ARGUMENTS,
    {0},
};

static int add_flag(const char *word, size_t n, struct gt_error *err)
{
    for (size_t i = 0; i < N_FLAGS; i++)
        if (strlen(flag_names[i].name) == n && strncmp(flag_names[i].name, word, n) == 0) {
            flag_on[i] = true;
            return 0;
        }
    return gt_error_set(err, GT_E_USAGE,
                        "argument flags=%.200s: unknown flag %.*s: expected some of none, exec, "
                        "disas, mem, cpu, gpio, coverage, all",
                        flags, n < 100 ? (int)n : 100, word);
}

static int parse_flags(struct gt_error *err)
{
    const char *at = flags ? flags : "exec";
    for (size_t n; at; at = at[n] ? at + n + 1 : NULL) {
        n = strcspn(at, ",+");
        int status = add_flag(at, n, err);
        if (status < 0)
            return status;
    }
    for (size_t i = 0; i < N_FLAGS; i++)
        if (flag_on[i])
            gt_etrace.flags |= flag_names[i].flags;
    return 0;
}

/* What was asked for by name is refused where the host lacks it; of `all`, it is left out. */
static int check_host(struct gt_error *err)
{
    bool all = flag_on[N_FLAGS - 1];
    gt_etrace.values = gt_host_can(GT_HOST_MEMORY_VALUES);
    int abi = gt_etrace.host.abi;
    if (gt_etrace.flags & GT_ETRACE_F_CPU && !gt_host_can(GT_HOST_REGISTERS)) {
        if (!all)
            return gt_error_set(err, GT_E_UNSUPPORTED,
                                "argument flags=cpu: this QEMU (plugin ABI %d) cannot read "
                                "registers; 9.0 and later can",
                                abi);
        gt_etrace.flags &= ~(unsigned)GT_ETRACE_F_CPU;
        gt_host_message("flags=all: no registers: this QEMU (plugin ABI %d) cannot read them; 9.0 "
                        "and later can",
                        abi);
    }
    if (gt_etrace.flags & (GT_ETRACE_F_MEM | GT_ETRACE_F_GPIO) && !gt_etrace.values)
        gt_host_message("values of memory accesses are 0: this QEMU (plugin ABI %d) does not "
                        "report them; 9.1 and later do",
                        abi);
    return 0;
}

static struct gt_host_events events = {
    .vcpu_init = gt_etrace_on_vcpu_init,
    .vcpu_exit = gt_etrace_on_vcpu_exit,
    .vcpu_idle = gt_etrace_on_vcpu_idle,
    .translate = gt_etrace_on_translate,
    .flush = gt_etrace_on_flush,
    .syscall = gt_etrace_on_syscall,
    .syscall_return = gt_etrace_on_syscall_return,
    .discontinuity = gt_etrace_on_discontinuity,
    .exit = gt_etrace_on_exit,
};

static int allocate(struct gt_error *err)
{
    size_t size = GT_ETRACE_MAX_VCPUS * sizeof *gt_etrace.vcpus;
    gt_etrace.vcpus = mmap(NULL, size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (gt_etrace.vcpus == MAP_FAILED)
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    pthread_mutex_init(&gt_etrace.lock, NULL);
    gt_etrace.met = g_ptr_array_new();
    gt_etrace.counters = g_ptr_array_new();
    gt_etrace.devices = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    return 0;
}

static int open_outlet(struct gt_error *err)
{
    struct gt_packet_sink_options options = {
        .target = output,
        .buffer_size = GT_ETRACE_BUFFER,
        .limit = LIMIT,
        .wait_seconds = (unsigned)wait_seconds,
        .drop = drop,
        .reconnect = reconnect,
        .head = gt_etrace_put_head,
        .mark = gt_etrace_put_mark,
        .rest = gt_etrace_rest,
        .tick = gt_etrace_tick,
    };
    gt_etrace.live = strncmp(output, "unix:", 5) == 0;
    int status = gt_packet_sink_create(&options, &gt_etrace.outlet, err);
    if (status == 0)
        gt_etrace_tell_news();
    return status;
}

int gt_tool_install(const struct gt_host_info *info, int argc, char **argv, struct gt_error *err)
{
    gt_etrace.host = *info;
    int status = gt_args_parse(arguments, argc, argv, err);
    if (status == 0)
        status = parse_flags(err);
    if (status < 0)
        return status;
    if (!output)
        return gt_error_set(
            err, GT_E_USAGE,
            "expected output=FILE or output=unix:PATH (QEMU takes file= for itself)");
    if (!gt_etrace_arch_of(info->target, &gt_etrace.arch))
        return gt_error_set(err, GT_E_UNSUPPORTED, "guests of target %s are not known",
                            info->target);
    gt_etrace.bits = gt_etrace.arch.guest.bits;
    gt_etrace.host_clock = clock_kind == GT_ETRACE_CLOCK_HOST ||
                           (clock_kind == GT_ETRACE_CLOCK_AUTO && info->vcpus > 1);
    status = check_host(err);
    if (status == 0)
        status = allocate(err);
    if (status == 0)
        status = gt_tracing_start(err);
    if (status == 0)
        status = open_outlet(err);
    if (status == 0)
        status = gt_etrace_maps_start(err);
    if (status == 0)
        status = gt_etrace_watch_forks(err);
    if (status == 0 && control)
        status = gt_etrace_control_start(control, err);
    if (gt_etrace.flags == GT_ETRACE_F_COVERAGE) /* it asks for no order, nor for devices */
        events.discontinuity = NULL;
    if (status < 0)
        return status;
    gt_host_subscribe(&events, NULL);
    gt_host_before_death(gt_listeners_remove);
    return 0;
}
