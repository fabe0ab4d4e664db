/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recording each instruction: libexeclog.so's arguments, and a line about the log. */
#include "cli/record/qemu.h"
#include "cli/record/stream.h"

#include <inttypes.h>
#include <string.h>

/* The options that are arguments of the plugin, under the same name; lists as often as given. */
#define LIST(word)                                                                                 \
    {                                                                                              \
#word, offsetof(struct gt_record_options, word)                                            \
    }
static const struct {
    const char *name;
    size_t offset;
} lists[] = {LIST(ifilter), LIST(afilter), LIST(reg),   LIST(range),
             LIST(sym),     LIST(elf),     LIST(start), LIST(stop)};

static const GPtrArray *list_at(const struct gt_record_options *opt, size_t i)
{
    return *(GPtrArray *const *)(const void *)((const char *)opt + lists[i].offset);
}

const char *gt_record_execlog_option(const struct gt_record_options *opt)
{
    for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
        if (list_at(opt, i))
            return lists[i].name;
    return opt->format   ? "format"
           : opt->rdisas ? "rdisas"
           : opt->every  ? "every"
           : opt->last   ? "last"
                         : NULL;
}

/* Options that are the other tools'. */
static const char *foreign_option(const struct gt_record_options *opt)
{
    return gt_record_calls_option(opt) ? gt_record_calls_option(opt)
           : opt->clock                ? "clock"
           : opt->flags                ? "flags"
           : opt->control              ? "control"
           : opt->reconnect            ? "reconnect"
           : opt->drop                 ? "drop"
                                       : NULL;
}

static void execlog_arguments(const struct gt_recording *r, GString *out)
{
    const struct gt_record_options *opt = r->opt;
    g_autofree char *target = gt_record_stream_target(r);
    g_string_append(out, ",output=");
    gt_qemu_append_value(out, target);
    if (opt->format)
        g_string_append_printf(out, ",format=%s", opt->format);
    for (size_t i = 0; i < G_N_ELEMENTS(lists); i++) {
        const GPtrArray *list = list_at(opt, i);
        for (guint k = 0; list && k < list->len; k++) {
            g_string_append_printf(out, ",%s=", lists[i].name);
            gt_qemu_append_value(out, list->pdata[k]);
        }
    }
    if (opt->rdisas)
        g_string_append(out, ",rdisas=on");
    if (opt->every)
        g_string_append_printf(out, ",every=%" PRIu64, opt->every);
    if (opt->last)
        g_string_append_printf(out, ",last=%" PRIu64, opt->last);
    if (opt->wait)
        g_string_append_printf(out, ",wait=%" PRIu64, opt->wait);
}

static int execlog_prepare(struct gt_recording *r, struct gt_error *err)
{
    const char *foreign = foreign_option(r->opt);
    if (foreign)
        return gt_error_set(err, GT_E_USAGE, "--%s is not for --tool execlog", foreign);
    return gt_record_stream_check(r, "an instruction log", err);
}

static bool execlog_finish(struct gt_recording *r)
{
    bool binary = r->opt->format && strcmp(r->opt->format, "binary") == 0;
    return gt_record_stream_finish(r, binary ? "guesttrace dump" : "less");
}

const struct gt_tool gt_tool_execlog = {
    .name = "execlog",
    .plugin = "libexeclog.so",
    .output = "execlog.out",
    .arguments = execlog_arguments,
    .prepare = execlog_prepare,
    .finish = execlog_finish,
};
