/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libexeclog.so: logs each instruction that a guest runs. Arguments and wiring; what the other
 * files do is said in execlog.h. */
#include "plugin/execlog/execlog.h"

#include "plugin/common/args.h"
#include "plugin/common/tracing.h"

#include <string.h>
#include <sys/mman.h>

const char gt_tool_name[] = "execlog";
enum { WAIT_SECONDS = 60, LIMIT = 16 << 20 };

static const char *const formats[] = {"text", "binary", NULL};
static const struct gt_exlog_sink *const sinks[] = {&gt_exlog_text, &gt_exlog_binary};

static const char *out;
static int format;
static bool values = true;
static uint64_t wait_seconds = WAIT_SECONDS;

static const struct gt_arg arguments[] = {
    {"ifilter", GT_ARG_EACH, .each = gt_exlog_add_prefix},
    {"afilter", GT_ARG_EACH, .each = gt_exlog_add_address},
    {"reg", GT_ARG_EACH, .each = gt_exlog_add_glob},
    {"rdisas", GT_ARG_SWITCH, &gt_exlog.rdisas},
    {"range", GT_ARG_EACH, .each = gt_exlog_add_range},
    {"sym", GT_ARG_EACH, .each = gt_exlog_add_symbol},
    {"elf", GT_ARG_EACH, .each = gt_exlog_add_elf},
    {"start", GT_ARG_EACH, .each = gt_exlog_add_start},
    {"stop", GT_ARG_EACH, .each = gt_exlog_add_stop},
    {"every", GT_ARG_NUMBER, &gt_exlog.every, .min = 1, .max = UINT64_MAX},
    {"last", GT_ARG_NUMBER, &gt_exlog.last, .min = 1, .max = 100000000},
    {"output", GT_ARG_TEXT, &out},
    {"out", GT_ARG_TEXT, &out},
    {"format", GT_ARG_CHOICE, &format, .choices = formats},
    {"values", GT_ARG_SWITCH, &values},
    {"wait", GT_ARG_NUMBER, &wait_seconds, .min = 0, .max = 1000000},
    GT_TRACING_ARGUMENTS,
    {0},
};

static struct gt_host_events events = {
    .vcpu_init = gt_exlog_on_vcpu_init,
    .vcpu_exit = gt_exlog_on_vcpu_exit,
    .vcpu_idle = gt_exlog_on_vcpu_idle,
    .translate = gt_exlog_on_translate,
    .flush = gt_exlog_on_flush,
    .syscall = gt_exlog_on_syscall,
    .exit = gt_exlog_on_exit,
};

static int allocate(struct gt_error *err)
{
    size_t size = GT_EXLOG_MAX_VCPUS * sizeof *gt_exlog.vcpus;
    gt_exlog.vcpus = mmap(NULL, size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (gt_exlog.vcpus == MAP_FAILED)
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    pthread_mutex_init(&gt_exlog.lock, NULL);
    gt_exlog.blocks = g_hash_table_new(gt_exlog_block_hash, gt_exlog_block_equal);
    gt_exlog.newest = g_hash_table_new(g_int64_hash, g_int64_equal);
    gt_exlog.stale = g_ptr_array_new();
    gt_exlog.registers = g_ptr_array_new();
    return 0;
}

static int open_outlet(struct gt_error *err)
{
    struct gt_packet_sink_options options = {
        .target = out,
        .limit = LIMIT,
        .wait_seconds = (unsigned)wait_seconds,
    };
    if (!out && format)
        return gt_error_set(err, GT_E_USAGE,
                            "argument format=%s: expected output=FILE or "
                            "output=unix:PATH, too: QEMU's log takes text",
                            formats[format]);
    if (!out)
        return 0;
    gt_exlog.live = strncmp(out, "unix:", 5) == 0;
    int status = gt_exlog.sink->options(&options, err);
    return status < 0 ? status : gt_packet_sink_create(&options, &gt_exlog.outlet, err);
}

/* Registers are looked at in a callback of each instruction: stores say nothing more. */
static void choose_cells(void)
{
    if (gt_exlog.register_globs || !gt_host_can(GT_HOST_CELLS))
        return;
    gt_exlog.cells = gt_cells_new(sizeof(uint64_t));
    gt_exlog.cells_move = gt_exlog.stores = true;
}

int gt_tool_install(const struct gt_host_info *info, int argc, char **argv, struct gt_error *err)
{
    gt_exlog.host = *info;
    gt_exlog.physical = info->system;
    gt_exlog.many = info->system && info->max_vcpus > 1;
    int status = allocate(err);
    if (status == 0)
        status = gt_args_parse(arguments, argc, argv, err);
    if (status == 0)
        status = gt_exlog_find_places(err);
    if (status == 0)
        status = gt_exlog_init_gate(err);
    gt_exlog.sink = sinks[format];
    gt_exlog.chosen = gt_exlog.chosen || gt_exlog.every > 1;
    gt_exlog.values = format && values && gt_host_can(GT_HOST_MEMORY_VALUES);
    if (status == 0)
        status = gt_tracing_start(err);
    if (status == 0)
        status = open_outlet(err);
    if (status < 0)
        return status;
    gt_exlog.rdisas = gt_exlog.rdisas && gt_exlog.register_globs;
    gt_exlog_tell_news();
    if (gt_exlog.last)
        gt_exlog.sink = gt_exlog_last(gt_exlog.sink, gt_exlog.last);
    choose_cells();
    gt_host_subscribe(&events, NULL);
    gt_host_before_death(gt_exlog_on_death);
    return 0;
}
