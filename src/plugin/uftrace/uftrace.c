/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libuftrace.so: records the functions that a guest calls as uftrace data. Arguments and wiring;
 * what the other files do is said in uftrace.h.
 */
#include "plugin/uftrace/uftrace.h"

#include "base/thread.h"
#include "plugin/common/args.h"
#include "plugin/common/code_modules.h"
#include "plugin/common/tracing.h"

#include <sys/mman.h>

const char gt_tool_name[] = "uftrace";
static const char *const clocks[] = {"auto", "insn", "host", NULL};

static const char *const task_kinds[] = {"stack", "cpu", NULL};

static const struct gt_arg arguments[] = {
    {"output", GT_ARG_TEXT, &gt_rec.output},
    {"code", GT_ARG_TEXT, &gt_rec.code_map},
    {"clock", GT_ARG_CHOICE, &gt_rec.clock, .choices = clocks},
    {"depth", GT_ARG_NUMBER, &gt_rec.depth, .min = 1, .max = GT_TRACK_MAX_DEPTH},
    {"tasks", GT_ARG_CHOICE, &gt_rec.tasks, .choices = task_kinds},
    {"max-tasks", GT_ARG_NUMBER, &gt_rec.max_tasks, .min = 1, .max = 1000000},
    {"tail-calls", GT_ARG_SWITCH, &gt_rec.tail_calls},
    {"trace-privilege-level", GT_ARG_SWITCH, &gt_rec.privilege_levels},
    {"discontinuities", GT_ARG_SWITCH, &gt_rec.discontinuities},
    {"summary", GT_ARG_SWITCH, &gt_rec.summary},
    GT_TRACING_ARGUMENTS,
    {"out", GT_ARG_TEXT, &gt_rec.output},
    {0},
};

static void on_exit_event(void *self)
{
    (void)self;
    gt_output_finish();
}

static struct gt_host_events events = {
    .vcpu_init = gt_on_vcpu_init,
    .vcpu_exit = gt_on_vcpu_exit,
    .translate = gt_on_translate,
    .discontinuity = gt_on_discontinuity,
    .syscall = gt_on_syscall,
    .syscall_return = gt_on_syscall_return,
    .exit = on_exit_event,
};

static void on_chunk_full(const struct gt_stream *s)
{
    trace_uftrace_window(s->id, gt_stream_records(s));
}

static bool allocate(struct gt_error *err)
{
    /* They are but addresses until they are used; yet QEMU needs what there are. */
    gt_rec.max_vcpus = gt_thread_addresses_limited() ? GT_MAX_VCPUS_LIMITED : GT_MAX_VCPUS;
    size_t size = (gt_rec.max_vcpus + 1) * sizeof *gt_rec.vcpus;
    const struct gt_sink *sink = gt_rec.privilege_levels ? &gt_level_sink : &gt_uftrace_sink;
    gt_rec.vcpus = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (gt_rec.vcpus == MAP_FAILED ||
        !gt_tracker_init(&gt_rec.tracker, sink, NULL, gt_rec.max_depth, gt_rec.tail_calls)) {
        gt_error_set(err, GT_E_NOMEM, "out of memory");
        return false;
    }
    gt_rec.tracker.machine = !gt_rec.user;
    gt_rec.tracker.lowest = gt_rec.user ? 0 : gt_rec.arch->vector_lowest;
    gt_rec.tracker.one_output = gt_rec.tasks == GT_TASKS_CPU || gt_rec.privilege_levels;
    gt_rec.tracker.keep_stacks = gt_rec.user ? 0 : (uint32_t)gt_rec.max_tasks;
    gt_vcpu_refuse(&gt_rec.vcpus[gt_rec.max_vcpus]);
    pthread_mutex_init(&gt_rec.lock, NULL);
    gt_modules_init(&gt_rec.modules, gt_rec.user, gt_output_module_added, NULL);
    gt_rec.memory = g_hash_table_new(g_direct_hash, g_direct_equal);
    if (gt_host_can(GT_HOST_CONDITIONAL))
        gt_rec.score = gt_cells_new(sizeof(struct gt_cells));
    gt_rec.sparse = !gt_rec.score && (gt_rec.user ? gt_rec.clock == GT_CLOCK_AUTO
                                                  : gt_rec.host_clock || gt_rec.host.vcpus == 1);
    return true;
}

/* Before there is a directory: what is refused leaves nothing. */
static int read_code_map(struct gt_error *err)
{
    if (!gt_rec.code_map)
        return 0;
    if (gt_rec.user)
        return gt_error_set(
            err, GT_E_USAGE,
            "argument code=%.200s: only machines need a code map, this is user mode",
            gt_rec.code_map);
    const struct gt_module *guest = g_ptr_array_index(gt_rec.modules.all, 0);
    int status = gt_code_modules_read(gt_rec.code_map, guest->anon, gt_level_is_user,
                                      &gt_rec.modules.code, err);
    gt_rec.modules.code_found = gt_output_code_found;
    if (status == 0)
        gt_linux_init();
    return status;
}

int gt_tool_install(const struct gt_host_info *info, int argc, char **argv, struct gt_error *err)
{
    gt_rec.host = *info;
    gt_rec.user = !info->system;
    gt_rec.depth = 1024;
    gt_rec.max_tasks = 1024;
    gt_rec.tail_calls = gt_rec.discontinuities = gt_rec.summary = true;
    int status = gt_args_parse(arguments, argc, argv, err);
    if (status < 0)
        return status;
    gt_rec.arch = gt_arch_by_target(info->target);
    if (!gt_rec.arch)
        return gt_error_set(err, GT_E_UNSUPPORTED, "guests of target %s cannot be recorded yet",
                            info->target);
    if (gt_rec.privilege_levels && gt_rec.user)
        return gt_error_set(err, GT_E_USAGE,
                            "argument trace-privilege-level=on: only machines have privilege "
                            "levels, this is user mode");
    if (gt_rec.privilege_levels) {
        status = gt_levels_init(err);
        if (status < 0)
            return status;
    }
    gt_rec.max_depth = (uint32_t)gt_rec.depth;
    gt_rec.syscalls = gt_rec.user ? gt_syscalls_by_target(info->target) : NULL;
    gt_rec.host_clock =
        gt_rec.clock == GT_CLOCK_HOST || (gt_rec.clock == GT_CLOCK_AUTO && info->vcpus > 1);
    if (!allocate(err))
        return err->status;
    status = read_code_map(err);
    if (status == 0)
        status = gt_tracing_start(err);
    if (status == 0)
        status = gt_output_create(err);
    if (status < 0)
        return status;
    gt_stream_chunk_full = on_chunk_full;
    gt_live_clock_create();
    gt_rec.modules.worker = gt_rec.worker;
    gt_rec.modules.now = gt_process_time;
    if (!gt_process_init(err))
        return err->status;
    gt_rec.discontinuities &= gt_host_can(GT_HOST_DISCONTINUITY);
    if (!gt_rec.discontinuities)
        events.discontinuity = NULL;
    gt_host_subscribe(&events, NULL);
    return 0;
}
