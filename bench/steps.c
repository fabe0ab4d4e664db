/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plugin that measures QEMU: the cost of each mechanism that recording uses, for
 * bench/together.py (docs/decisions/how-a-call-is-seen.md).
 *
 *     step=nothing   a callback for each translated block
 *     step=count     an inline add in each block
 *     step=counts    the same, to a number of each block
 *     step=callback  an empty callback in each block
 *     step=looks     an inline add in each block, and an empty callback at each call and return
 *     step=tests     the same with a conditional callback that never fires in place of each
 *     step=registers  like looks; the callback reads three registers
 *     step=memory    like looks; the callback reads 64 bytes of memory, the code
 *     step=calls     a conditional callback in each block that never fires, and a callback at each
 *                    call and return, which puts 16 bytes into a ring that nobody reads
 *     step=written   an inline add in each block, and a callback at each call and return, which
 *                    records the count and the address: in output=DIR, with our writer. Nothing is
 *                    tracked.
 */
#include "base/stream/stream.h"
#include "guest/arch/arch.h"
#include "qemu/host.h"
#include "qemu/support/args.h"

#include <errno.h>
#include <glib.h>
#include <sys/stat.h>

const char gt_host_tool_name[] = "steps";

enum { RING = 1 << 20 /* words */, SET = 4096 /* numbers */ };

enum { NOTHING, COUNT, COUNTS, CALLBACK, LOOKS, REGISTERS, MEMORY, TESTS, CALLS, WRITTEN };

static int step; /* one of these */
static const struct gt_arch *arch;
static void *scoreboard; /* what is counted; what never fires */
static struct gt_host_scoreboard_entry never;
static uint64_t ring[RING];
static size_t at;
static void *registers[3];
static size_t n_registers;
static struct gt_streams *streams;
static struct gt_stream *stream;

static void on_block(unsigned vcpu, void *data)
{
    (void)vcpu, (void)data;
}

/* The first ones: those of integers. */
static void keep_register(void *self, const char *name, void *handle)
{
    (void)self, (void)name;
    if (n_registers < G_N_ELEMENTS(registers))
        registers[n_registers++] = handle;
}

static void on_registers(unsigned vcpu, void *pc)
{
    (void)vcpu, (void)pc;
    uint8_t bytes[16];
    if (!n_registers)
        gt_host_registers_each(keep_register, NULL);
    for (size_t i = 0; i < n_registers; i++)
        gt_host_register_bytes(registers[i], bytes, sizeof bytes);
}

static void on_memory(unsigned vcpu, void *pc)
{
    (void)vcpu;
    uint8_t bytes[64];
    gt_host_memory_read((uint64_t)(uintptr_t)pc, bytes, sizeof bytes);
}

static void on_call(unsigned vcpu, void *pc)
{
    ring[at] = vcpu;
    ring[at + 1] = (uint64_t)(uintptr_t)pc;
    at = (at + 2) % RING;
}

/* Of one vCPU: the stream has one producer. */
static void on_written_call(unsigned vcpu, void *pc)
{
    static const uint64_t *counted;
    if (vcpu > 0)
        return;
    if (!counted)
        counted = gt_host_scoreboard_find(scoreboard, vcpu);
    gt_stream_put(stream, *counted, (uint64_t)(uintptr_t)pc);
}

static void watch_call(struct gt_host_insn *insn, gt_host_exec_fn fn, void *pc)
{
    if (step == TESTS)
        gt_host_insn_on_exec_ne(insn, fn, never, 0, pc);
    else
        gt_host_insn_on_exec(insn, fn, pc);
}

static void watch_calls(struct gt_host_block *block, gt_host_exec_fn fn)
{
    struct gt_host_insn *last = gt_host_block_insn(block, gt_host_block_insns(block) - 1);
    uint8_t bytes[16];
    size_t size = gt_host_insn_bytes(last, bytes, sizeof bytes);
    uint64_t pc = gt_host_insn_pc(last);
    struct gt_arch_insn insn;
    arch->classify(bytes, size, pc, &insn);
    if (insn.kind == GT_INSN_CALL || insn.kind == GT_INSN_CALL_INDIRECT ||
        insn.kind == GT_INSN_RETURN)
        watch_call(last, fn, (void *)(uintptr_t)pc);
}

static void add_to_own_count(struct gt_host_block *block)
{
    static void *set;
    static size_t used;
    if (used % SET == 0)
        set = gt_host_counters_new(SET);
    gt_host_block_count(block, set, used++ % SET, 1);
}

static void translate(void *self, struct gt_host_block *block)
{
    (void)self;
    if (gt_host_block_insns(block) == 0)
        return;
    switch (step) {
    case NOTHING:
        break;
    case COUNT:
        gt_host_block_count(block, scoreboard, 0, gt_host_block_insns(block));
        break;
    case COUNTS:
        add_to_own_count(block);
        break;
    case CALLBACK:
        gt_host_block_on_exec(block, on_block, NULL);
        break;
    case LOOKS:
    case TESTS:
        gt_host_block_count(block, scoreboard, 0, gt_host_block_insns(block));
        watch_calls(block, on_block);
        break;
    case REGISTERS:
    case MEMORY:
        gt_host_block_count(block, scoreboard, 0, gt_host_block_insns(block));
        watch_calls(block, step == MEMORY ? on_memory : on_registers);
        break;
    case CALLS:
        gt_host_block_on_exec_ne(block, on_block, never, 0, NULL);
        watch_calls(block, on_call);
        break;
    case WRITTEN:
        gt_host_block_count(block, scoreboard, 0, gt_host_block_insns(block));
        watch_calls(block, on_written_call);
    }
}

static void at_exit(void *self)
{
    (void)self;
    gt_streams_destroy(streams, NULL);
}

static int open_stream(const char *output, struct gt_error *err)
{
    if (!output)
        return gt_error_set(err, GT_E_USAGE, "step=written needs output=DIR");
    if (mkdir(output, 0777) != 0)
        return gt_error_errno(err, errno, "%s", output);
    int status = gt_streams_create(output, 0, &streams, err);
    if (status == 0 && gt_stream_open(streams, 1, &stream) != 0)
        status = gt_error_set(err, GT_E_NOMEM, "%s: no memory or no thread", output);
    return status;
}

int gt_host_tool_install(const struct gt_host_info *info, int argc, char **argv,
                         struct gt_error *err)
{
    static const struct gt_host_events events = {.translate = translate, .exit = at_exit};
    static const char *const steps[] = {"nothing", "count",     "counts", "callback",
                                        "looks",   "registers", "memory", "tests",
                                        "calls",   "written",   NULL};
    const char *output = NULL;
    const struct gt_support_arg table[] = {
        {"step", GT_ARG_CHOICE, &step, .choices = steps},
        {"output", GT_ARG_TEXT, &output},
        {NULL},
    };
    int status = gt_support_args_parse(table, argc, argv, err);
    if (status < 0)
        return status;
    arch = gt_arch_by_target(info->target);
    bool able = gt_host_can(GT_HOST_SCOREBOARD) && gt_host_can(GT_HOST_CONDITIONAL);
    if (!arch || (!able && step >= TESTS))
        return gt_error_set(err, GT_E_UNSUPPORTED, "needs QEMU 9.0 or later and a known target");
    scoreboard = gt_host_counters_new(2);
    never = (struct gt_host_scoreboard_entry){scoreboard, sizeof(uint64_t)};
    if (step == WRITTEN)
        status = open_stream(output, err);
    if (status == 0)
        gt_host_subscribe(&events, NULL);
    return status;
}
