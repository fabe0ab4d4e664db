/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recording code and memory accesses: libetrace.so's arguments, and a line about the stream. */
#include "cli/record/qemu.h"
#include "cli/record/stream.h"

#include <inttypes.h>

static void etrace_arguments(const struct gt_recording *r, GString *out)
{
    const struct gt_record_options *opt = r->opt;
    g_autofree char *target = gt_record_stream_target(r);
    g_string_append(out, ",output=");
    gt_qemu_append_value(out, target);
    if (opt->flags) {
        g_string_append(out, ",flags=");
        gt_qemu_append_value(out, opt->flags);
    }
    if (opt->control) {
        g_autofree char *path = g_canonicalize_filename(opt->control, NULL);
        g_string_append(out, ",control=");
        gt_qemu_append_value(out, path);
    }
    if (opt->clock)
        g_string_append_printf(out, ",clock=%s", opt->clock);
    if (opt->wait)
        g_string_append_printf(out, ",wait=%" PRIu64, opt->wait);
    if (opt->reconnect)
        g_string_append(out, ",reconnect=on");
    if (opt->drop)
        g_string_append(out, ",drop=on");
}

/* Options that are the other tools'. */
static const char *foreign_option(const struct gt_record_options *opt)
{
    const char *calls = gt_record_calls_option(opt);
    return calls ? calls : gt_record_execlog_option(opt);
}

static int etrace_prepare(struct gt_recording *r, struct gt_error *err)
{
    const char *foreign = foreign_option(r->opt);
    if (foreign)
        return gt_error_set(err, GT_E_USAGE, "--%s is not for --tool etrace", foreign);
    return gt_record_stream_check(r, "an etrace stream", err);
}

static bool etrace_finish(struct gt_recording *r)
{
    return gt_record_stream_finish(r, "guesttrace dump");
}

const struct gt_tool gt_tool_etrace = {
    .name = "etrace",
    .plugin = "libetrace.so",
    .output = "etrace.out",
    .arguments = etrace_arguments,
    .prepare = etrace_prepare,
    .finish = etrace_finish,
};
