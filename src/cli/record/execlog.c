/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recording each instruction: libexeclog.so's arguments, and a line about the log. */
#include "base/number.h"
#include "cli/record/qemu.h"
#include "cli/record/stream.h"

#include <inttypes.h>
#include <string.h>

const struct gt_cli_option gt_record_options_execlog[] = {
    {"format", .type = GT_OPTION_CHOICE, .value = "FORM",
     .choices = (const char *const[]){"text", "binary", NULL},
     .help = "select the log's format: text (the default), or binary, which is smaller",
     .heading = GT_UNDER_OUTPUT | GT_OPTION_FIRST, GT_RECORD_FIELD(format)},
    {"reg", .type = GT_OPTION_TEXT, .repeat = true, .value = "GLOB",
     .help = "show changes of these registers", .heading = GT_UNDER_WHAT | GT_OPTION_FIRST,
     GT_RECORD_FIELD(reg)},
    {"rdisas", .type = GT_OPTION_FLAG,
     .help = "check registers only after instructions that name one", .heading = GT_UNDER_WHAT,
     GT_RECORD_FIELD(rdisas)},
    {"ifilter", .type = GT_OPTION_TEXT, .repeat = true, .value = "PREFIX",
     .help = "log only instructions whose disassembly starts with PREFIX",
     .heading = GT_UNDER_FILTERS | GT_OPTION_FIRST, GT_RECORD_FIELD(ifilter)},
    {"afilter", .type = GT_OPTION_TEXT, .repeat = true, .value = "HEX",
     .help = "log only the instruction at this address", .heading = GT_UNDER_FILTERS,
     GT_RECORD_FIELD(afilter)},
    {"range", .type = GT_OPTION_TEXT, .repeat = true, .value = "LO-HI",
     .help = "log only instructions from address LO to before HI, in hex",
     .heading = GT_UNDER_FILTERS | GT_OPTION_FIRST, GT_RECORD_FIELD(range)},
    {"sym", .type = GT_OPTION_TEXT, .repeat = true, .value = "NAME",
     .help = "log only instructions of this function",
     .heading = GT_UNDER_FILTERS | GT_OPTION_FIRST, GT_RECORD_FIELD(sym)},
    {"elf", .type = GT_OPTION_FILE, .repeat = true, .value = "FILE[:OFFSET]",
     .help = "take functions from this file too, OFFSET above its link addresses",
     .heading = GT_UNDER_NAMES | GT_OPTION_FIRST, GT_RECORD_FIELD(elf)},
    {"start", .type = GT_OPTION_TEXT, .repeat = true, .value = "WHERE[:COUNT]",
     .help = "start logging at WHERE, a function or 0xADDRESS, when it has run COUNT times",
     .heading = GT_UNDER_FILTERS | GT_OPTION_FIRST, GT_RECORD_FIELD(start)},
    {"stop", .type = GT_OPTION_TEXT, .repeat = true, .value = "WHERE[:COUNT]",
     .help = "stop logging at WHERE", .heading = GT_UNDER_FILTERS | GT_OPTION_FIRST,
     GT_RECORD_FIELD(stop)},
    {"every", .type = GT_OPTION_NUMBER, .value = "N", .min = 1, .max = UINT64_MAX,
     .help = "log every N-th instruction", .heading = GT_UNDER_FILTERS, GT_RECORD_FIELD(every)},
    {"last", .type = GT_OPTION_TEXT, .value = "N",
     .help = "keep the last N instructions of each vCPU, and write them at the end, at a crash or "
             "at --stop",
     .heading = GT_UNDER_FILTERS | GT_OPTION_FIRST, GT_RECORD_FIELD(last)},
    {"wait", .type = GT_OPTION_NUMBER, .value = "SECONDS", .min = 1, .max = 1000000,
     .help = "wait up to N seconds for a socket's first reader, and at the end for one that takes "
             "nothing (default: 60)",
     .heading = GT_UNDER_OUTPUT, GT_RECORD_FIELD(wait)},
    GT_RECORD_NO_FOLLOW_EXEC,
    {"control", .type = GT_OPTION_TEXT, .old = "--trace-socket", .value = "SOCKET",
     .help = "let 'guesttrace ctl' switch the plugin's trace events at this socket while the guest "
             "runs",
     .heading = GT_UNDER_CONTROL, GT_RECORD_FIELD(control)},
    {0},
};

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

static void execlog_arguments(const struct gt_record_recording *r, GString *out)
{
    const struct gt_record_options *opt = r->opt;
    g_autofree char *target = gt_record_stream_target(r);
    g_string_append(out, ",output=");
    gt_record_qemu_append_value(out, target);
    gt_record_qemu_append_path(out, "control", opt->control);
    if (opt->format)
        g_string_append_printf(out, ",format=%s", opt->format);
    for (size_t i = 0; i < G_N_ELEMENTS(lists); i++) {
        const GPtrArray *list = list_at(opt, i);
        for (guint k = 0; list && k < list->len; k++) {
            g_string_append_printf(out, ",%s=", lists[i].name);
            gt_record_qemu_append_value(out, list->pdata[k]);
        }
    }
    if (opt->rdisas)
        g_string_append(out, ",rdisas=on");
    if (opt->every)
        g_string_append_printf(out, ",every=%" PRIu64, opt->every);
    if (opt->last)
        g_string_append_printf(out, ",last=%s", opt->last);
    if (opt->wait)
        g_string_append_printf(out, ",wait=%" PRIu64, opt->wait);
}

enum { LAST_MOST = 100000000 };

/* Text, since calls have an option of that name, too. */
static int check_last(const char *last, struct gt_error *err)
{
    uint64_t n;
    if (!last || (gt_text_number_parse(last, &n) == 0 && n >= 1 && n <= LAST_MOST))
        return 0;
    return gt_error_set(err, GT_E_USAGE, "option '--last' takes a number from 1 to %d, not '%s'",
                        LAST_MOST, last);
}

static int execlog_prepare(struct gt_record_recording *r, struct gt_error *err)
{
    int status = check_last(r->opt->last, err);
    if (status < 0)
        return status;
    return gt_record_stream_check(r, "an instruction log", err);
}

static bool execlog_finish(struct gt_record_recording *r)
{
    bool binary = r->opt->format && strcmp(r->opt->format, "binary") == 0;
    return gt_record_stream_finish(r, binary ? "guesttrace dump" : "less");
}

const struct gt_record_tool gt_record_tool_execlog = {
    .name = "execlog",
    .plugin = "libexeclog.so",
    .output = "execlog.out",
    .arguments = execlog_arguments,
    .prepare = execlog_prepare,
    .finish = execlog_finish,
};
