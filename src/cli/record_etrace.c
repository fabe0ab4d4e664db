/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recording code and memory accesses: libetrace.so's arguments, and a line about the stream. */
#include "cli/amount.h"
#include "cli/qemu.h"
#include "cli/recording.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define SOCKET "unix:"

/* What the stream's target is in QEMU's working directory, which is ours. */
static char *target_of(const struct gt_recording *r)
{
    if (!g_str_has_prefix(r->shown, SOCKET))
        return g_strdup(r->output);
    g_autofree char *path = g_canonicalize_filename(r->shown + strlen(SOCKET), NULL);
    return g_strconcat(SOCKET, path, NULL);
}

static void etrace_arguments(const struct gt_recording *r, GString *out)
{
    const struct gt_record_options *opt = r->opt;
    g_autofree char *target = target_of(r);
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

/* Options that are the other tool's. */
static const char *foreign_option(const struct gt_record_options *opt)
{
    return opt->depth              ? "depth"
           : opt->tasks            ? "tasks"
           : opt->max_tasks        ? "max-tasks"
           : opt->no_tail_calls    ? "no-tail-calls"
           : opt->privilege_levels ? "privilege-levels"
           : opt->no_console       ? "no-console"
           : opt->symbols          ? "symbols"
                                   : NULL;
}

static int etrace_prepare(struct gt_recording *r, struct gt_error *err)
{
    const char *foreign = foreign_option(r->opt);
    struct stat st;
    if (foreign)
        return gt_error_set(err, GT_E_USAGE, "--%s is not for --tool etrace", foreign);
    if (stat(r->output, &st) == 0 && S_ISDIR(st.st_mode))
        return gt_error_set(err, GT_E_EXISTS, "%s is a directory; an etrace stream is a file",
                            r->shown);
    return 0;
}

static void etrace_finish(struct gt_recording *r)
{
    struct stat st;
    bool file = !g_str_has_prefix(r->shown, SOCKET);
    if (r->opt->quiet || !file || stat(r->output, &st) != 0)
        return;
    g_autofree char *size = gt_amount_short((uint64_t)st.st_size);
    g_autofree char *shown = g_shell_quote(r->shown);
    bool plain =
        strspn(r->shown, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "/._-+,=@") == strlen(r->shown);
    gt_record_say("%sB, %.1f s; to see it: guesttrace dump %s", size, r->seconds,
                  plain ? r->shown : shown);
}

const struct gt_tool gt_tool_etrace = {
    .name = "etrace",
    .plugin = "libetrace.so",
    .output = "etrace.out",
    .arguments = etrace_arguments,
    .prepare = etrace_prepare,
    .finish = etrace_finish,
};
