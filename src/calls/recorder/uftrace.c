/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libuftrace.so: records the functions that a guest calls as uftrace data. Arguments and wiring;
 * the header of each other file says what it does.
 */
#include "calls/recorder/uftrace.h"
#include "calls/recorder/finish.h"
#include "calls/recorder/installed.h"
#include "calls/recorder/options.h"
#include "calls/recorder/output/live_clock.h"
#include "calls/recorder/output/snapshot.h"
#include "calls/recorder/output/tasks.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/run/causes.h"
#include "calls/recorder/run/control.h"
#include "calls/recorder/run/linux.h"
#include "calls/recorder/run/process.h"
#include "calls/recorder/run/system.h"
#include "calls/recorder/run/transfer.h"
#include "calls/recorder/run/vcpu.h"
#include "calls/recorder/select/dormant.h"
#include "calls/recorder/select/filters.h"
#include "calls/recorder/select/level.h"
#include "calls/recorder/translate/code.h"
#include "calls/recorder/translate/stack_pointer.h"

#include "base/socket.h"
#include "base/thread.h"
#include "qemu/support/args.h"
#include "qemu/support/code_modules.h"
#include "qemu/support/execs.h"
#include "qemu/support/tracing.h"

#include <assert.h>
#include <sys/mman.h>

const char gt_host_tool_name[] = "uftrace";
static const char *const clocks[] = {"auto", "insn", "host", NULL};

static const char *const formats[] = {"uftrace", "compact", NULL};
static const char *const task_kinds[] = {"stack", "cpu", NULL};

/* Later words win: `out` is QEMU's name for `output`. */
static int read_arguments(struct gt_recorder *r, int argc, char **argv, struct gt_error *err)
{
    struct gt_recorder_options *o = &r->options;
    enum { OWN = 32, MOST = OWN + GT_FILTER_ARGUMENTS + GT_ARGUMENT_OPTIONS + 1 };
    struct gt_support_arg arguments[MOST] = {
        {"output", GT_ARG_TEXT, &o->output},
        {"format", GT_ARG_CHOICE, &o->format, .choices = formats},
        {"last", GT_ARG_TEXT, &o->last},
        {"split", GT_ARG_TEXT, &o->split},
        {"size-limit", GT_ARG_TEXT, &o->size_limit},
        {"code", GT_ARG_TEXT, &o->code_map},
        {"abi", GT_ARG_TEXT, &o->abi},
        {"clock", GT_ARG_CHOICE, &o->clock, .choices = clocks},
        {"depth", GT_ARG_NUMBER, &o->depth, .min = 1, .max = GT_TRACK_MAX_DEPTH},
        {"tasks", GT_ARG_CHOICE, &o->tasks, .choices = task_kinds},
        {"max-tasks", GT_ARG_NUMBER, &o->max_tasks, .min = 1, .max = 1000000},
        {"tail-calls", GT_ARG_SWITCH, &o->tail_calls},
        {"trace-privilege-level", GT_ARG_SWITCH, &o->privilege_levels},
        {"discontinuities", GT_ARG_SWITCH, &o->discontinuities},
        {"summary", GT_ARG_SWITCH, &o->summary},
        {"follow-exec", GT_ARG_SWITCH, &o->follow_exec},
        {"srcline", GT_ARG_SWITCH, &o->srcline},
        {"syscalls", GT_ARG_SWITCH, &o->system_calls},
        {"control", GT_ARG_TEXT, &o->control},
        {"console", GT_ARG_SWITCH, &o->console},
        {"qmp", GT_ARG_SWITCH, &o->qmp},
        GT_TRACING_ARGUMENTS,
        {"out", GT_ARG_TEXT, &o->output},
    };
    size_t n = 0;
    while (arguments[n].name)
        n++;
    assert(n <= OWN);
    n += gt_select_filters_arguments(&r->filters, arguments + n);
    n += gt_recorder_arguments_options(&r->arguments, arguments + n);
    arguments[n] = (struct gt_support_arg){0};
    *o = (struct gt_recorder_options){
        .max_tasks = 1024, .tail_calls = true, .discontinuities = true, .summary = true};
    int status = gt_support_args_parse(arguments, argc, argv, err);
    o->has_depth = o->depth != 0;
    if (!o->has_depth)
        o->depth = 1024;
    return status;
}

static void on_exit_event(void *self)
{
    struct gt_recorder *r = self;
    if (r->process.sees_signals && gt_run_cause_waits(r))
        r->process.dying = true; /* gt_recorder_killed comes */
    else
        gt_recorder_finish(r);
}

static bool is_user(void *self)
{
    return gt_select_level_is_user(self);
}

static uint64_t process_time(void *self)
{
    return gt_run_process_time(self);
}

static void on_chunk_full(const struct gt_stream *s)
{
    trace_uftrace_window(s->id, gt_stream_records(s));
}

static void on_flush(void *self)
{
    struct gt_recorder *r = self;
    gt_run_vcpus_forget_scores(r);
    if (!r->guest.user)
        gt_run_vmstates_flushed(r);
}

/* The events that the host is asked to report. */
static struct gt_host_events events_of(const struct gt_recorder *r)
{
    return (struct gt_host_events){
        .vcpu_init = gt_run_on_vcpu_init,
        .vcpu_exit = gt_run_on_vcpu_exit,
        .translate = gt_translate_on_block,
        .discontinuity = r->options.discontinuities ? gt_run_on_discontinuity : NULL,
        .syscall = gt_run_on_syscall,
        .syscall_return = gt_run_on_syscall_return,
        .run_state = gt_run_on_run_state,
        .flush = on_flush,
        .exit = on_exit_event,
    };
}

/* The guest, and members that depend on it alone. */
static int know_guest(struct gt_recorder *r, const struct gt_host_info *info, struct gt_error *err)
{
    r->host = *info;
    r->guest.user = !info->system;
    r->guest.arch = gt_arch_by_target(info->target);
    if (!r->guest.arch)
        return gt_error_set(err, GT_E_UNSUPPORTED, "guests of target %s cannot be recorded yet",
                            info->target);
    if (r->options.privilege_levels && r->guest.user)
        return gt_error_set(err, GT_E_USAGE,
                            "argument trace-privilege-level=on: only machines have privilege "
                            "levels, this is user mode");
    r->guest.syscalls = r->guest.user ? gt_arch_syscalls_by_target(info->target) : NULL;
    return r->options.privilege_levels ? gt_select_levels_init(r, err) : 0;
}

static int init_tracker(struct gt_recorder *r, struct gt_error *err)
{
    const struct gt_recorder_plan *plan = gt_recorder_plan(r);
    if (!gt_track_init(&r->tracker, plan->sink, r, r->hot.max_depth, r->options.tail_calls))
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    r->tracker.machine = !r->guest.user;
    gt_translate_stack_pointer_init(r);
    r->tracker.lowest = r->guest.user ? 0 : r->guest.arch->vector_lowest;
    r->tracker.one_output = gt_recorder_has_vcpu_tasks(r) || r->options.privilege_levels;
    r->tracker.keep_stacks = r->guest.user ? 0 : (uint32_t)r->options.max_tasks;
    return 0;
}

static bool init_vcpus(struct gt_recorder *r)
{
    /* Unused ones take address space only; but where that is limited QEMU needs it, too. */
    r->hot.max_vcpus = gt_thread_addresses_limited() ? GT_MAX_VCPUS_LIMITED : GT_MAX_VCPUS;
    size_t size = (r->hot.max_vcpus + 1) * sizeof *r->hot.vcpu;
    r->hot.vcpu = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (r->hot.vcpu == MAP_FAILED)
        return false;
    gt_run_vcpu_refuse(r, &r->hot.vcpu[r->hot.max_vcpus]);
    return true;
}

static int init_members(struct gt_recorder *r, struct gt_error *err)
{
    gt_recorder_plan_clock(r);
    int status = gt_select_filters_init(r, err);
    if (status == 0)
        status = gt_recorder_arguments_init(r, err);
    if (status < 0)
        return status;
    if (!init_vcpus(r))
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    gt_recorder_plan_choose(r);
    pthread_mutex_init(&r->lock, NULL);
    gt_run_clones_init(&r->process.clones);
    gt_recorder_open_calls_init(&r->open_calls);
    gt_gate_init(&r->gate);
    gt_support_modules_init(&r->code.modules, r->guest.user, gt_recorder_output_module_added, r);
    r->code.memory.pages = g_hash_table_new(g_direct_hash, g_direct_equal);
    return init_tracker(r, err);
}

/* Checked before the directory is created: a refused recording leaves no files. */
static int read_code_map(struct gt_recorder *r, struct gt_error *err)
{
    if (!r->options.code_map)
        return gt_select_filters_check(r, err);
    if (r->guest.user)
        return gt_error_set(
            err, GT_E_USAGE,
            "argument code=%.200s: only machines need a code map, this is user mode",
            r->options.code_map);
    const struct gt_support_module *guest = g_ptr_array_index(r->code.modules.all, 0);
    int status = gt_support_code_modules_read(r->options.code_map, guest->anon, is_user, r,
                                              &r->code.modules.code, err);
    r->code.modules.code_found = gt_recorder_output_code_found;
    if (status == 0)
        status = gt_select_filters_check(r, err);
    if (status == 0)
        gt_run_linux_init(r);
    return status;
}

int gt_recorder_init(struct gt_recorder *r, const struct gt_host_info *info, int argc, char **argv,
                     struct gt_error *err)
{
    int status = read_arguments(r, argc, argv, err);
    if (status == 0)
        status = gt_support_tracing_take_old_socket(&r->options.control, err);
    if (status == 0)
        status = gt_recorder_packed_check(&r->options, err);
    gt_recorder_snapshots_init(r);
    gt_recorder_parts_init(r);
    if (status == 0)
        status = know_guest(r, info, err);
    if (status == 0)
        status = gt_run_system_calls_check(r, err);
    if (status == 0)
        status = init_members(r, err);
    if (status == 0)
        status = read_code_map(r, err);
    if (status == 0)
        status = gt_support_tracing_start(err);
    if (status == 0)
        status = gt_run_control_start(r, err);
    if (status == 0)
        status = gt_recorder_output_create(r, err);
    if (status < 0) {
        gt_run_control_stop(r);
        return status;
    }
    gt_run_listen(r);
    gt_recorder_live_clock_create(r);
    r->code.modules.worker = r->output.worker;
    r->code.modules.now = process_time;
    r->options.discontinuities &= gt_host_can(GT_HOST_DISCONTINUITY);
    r->events = events_of(r);
    gt_run_vmstates_init(r);
    gt_run_guests_init(r);
    return 0;
}

int gt_host_tool_install(const struct gt_host_info *info, int argc, char **argv,
                         struct gt_error *err)
{
    struct gt_recorder *r = gt_recorder_installed();
    int status = gt_recorder_init(r, info, argc, argv, err);
    if (status == 0 && r->guest.user)
        status = gt_run_process_watch_forks(err);
    if (status == 0 && r->guest.user)
        status = gt_execs_init(r->options.follow_exec, r->options.output, err);
    if (status < 0) {
        gt_run_control_stop(r);
        return status;
    }
    gt_run_control_serve(r);
    if (r->options.control || gt_select_filters_watching(&r->filters))
        r->process.sees_signals = gt_host_on_abnormal_exit(gt_recorder_killed);
    gt_stream_chunk_full = on_chunk_full;
    gt_host_subscribe(gt_select_dormant_init(r) ? &r->dormant.events : &r->events, r);
    return 0;
}
