/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recording code and memory accesses: libetrace.so's arguments, and a line about the stream. */
#include "cli/record/qemu.h"
#include "cli/record/stream.h"

#include <inttypes.h>

const struct gt_cli_option gt_record_options_etrace[] = {
    {"flags", .type = GT_OPTION_TEXT, .value = "FLAG,...",
     .help = "record these packets: exec (the default), mem, disas, cpu, gpio, all, coverage, none",
     .heading = GT_UNDER_WHAT | GT_OPTION_FIRST, GT_RECORD_FIELD(flags)},
    {"clock", .type = GT_OPTION_CHOICE, .value = "CLOCK",
     .choices = (const char *const[]){"insn", "host", "auto", NULL},
     .help = "select the time base: retired instructions (the same in every run), the host's "
             "clock, or instructions while there is only one thread or vCPU (default: auto)",
     .heading = GT_UNDER_WHAT | GT_OPTION_FIRST, GT_RECORD_FIELD(clock)},
    {"reconnect", .type = GT_OPTION_FLAG,
     .help = "when a socket's reader disconnects, start a new stream for the next one",
     .heading = GT_UNDER_OUTPUT | GT_OPTION_FIRST, GT_RECORD_FIELD(reconnect)},
    {"drop", .type = GT_OPTION_FLAG,
     .help = "drop data when the reader is slow, and report how much (default: block the guest)",
     .heading = GT_UNDER_OUTPUT | GT_OPTION_FIRST, GT_RECORD_FIELD(drop)},
    {"wait", .type = GT_OPTION_NUMBER, .value = "SECONDS", .min = 1, .max = 1000000,
     .help = "wait up to N seconds for a socket's first reader, and at the end for one that takes "
             "nothing (default: 60)",
     .heading = GT_UNDER_OUTPUT | GT_OPTION_FIRST, GT_RECORD_FIELD(wait)},
    {"control", .type = GT_OPTION_TEXT, .old = "--trace-socket", .value = "PATH",
     .help = "accept commands at this socket while the guest runs: counts, flush, status",
     .heading = GT_UNDER_CONTROL | GT_OPTION_FIRST, GT_RECORD_FIELD(control)},
    GT_RECORD_NO_FOLLOW_EXEC,
    {0},
};

static void etrace_arguments(const struct gt_record_recording *r, GString *out)
{
    const struct gt_record_options *opt = r->opt;
    g_autofree char *target = gt_record_stream_target(r);
    g_string_append(out, ",output=");
    gt_record_qemu_append_value(out, target);
    if (opt->flags) {
        g_string_append(out, ",flags=");
        gt_record_qemu_append_value(out, opt->flags);
    }
    gt_record_qemu_append_path(out, "control", opt->control);
    if (opt->clock)
        g_string_append_printf(out, ",clock=%s", opt->clock);
    if (opt->wait)
        g_string_append_printf(out, ",wait=%" PRIu64, opt->wait);
    if (opt->reconnect)
        g_string_append(out, ",reconnect=on");
    if (opt->drop)
        g_string_append(out, ",drop=on");
}

static int etrace_prepare(struct gt_record_recording *r, struct gt_error *err)
{
    return gt_record_stream_check(r, "an etrace stream", err);
}

static bool etrace_finish(struct gt_record_recording *r)
{
    const char *flags = r->opt->flags;
    return gt_record_stream_finish(r, flags && strcmp(flags, "coverage") == 0
                                          ? "guesttrace etrace coverage -e PROGRAM"
                                          : "guesttrace dump");
}

const struct gt_record_tool gt_record_tool_etrace = {
    .name = "etrace",
    .plugin = "libetrace.so",
    .output = "etrace.out",
    .arguments = etrace_arguments,
    .prepare = etrace_prepare,
    .finish = etrace_finish,
};
