/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace info`: what a recording is, what ran, and how exact it is. */
#include "cli/info/info.h"

struct info_options {
    struct gt_cli_opened_options reader;
    bool json;
};

static const struct gt_cli_option info_table[] = {
    {"json", .type = GT_OPTION_FLAG, .help = "print JSON",
     .offset = offsetof(struct info_options, json)},
    {"elf", 'e', GT_OPTION_FILE, .repeat = true, .value = "ELF[:OFFSET]",
     .help = "etrace streams: take functions from this file",
     .offset = offsetof(struct info_options, reader.elf)},
    GT_QUIET_OPTION(struct info_options, reader.quiet),
    GT_PAGER_OPTIONS(struct info_options, reader.pager),
    {0},
};

static int info(struct gt_cli_opened *r, const void *user, struct gt_error *err)
{
    const struct info_options *o = user;
    struct gt_cli_info i;
    int status = gt_cli_info_read(r->trace, &i, err);
    if (status == 0)
        status = gt_cli_opened_start(r, err);
    if (status == 0) {
        if (o->json)
            gt_cli_info_json(&i, &r->pager->out);
        else
            gt_cli_info_text(&i, r->pager);
        status = gt_cli_opened_finish(r, err);
    }
    gt_cli_info_clear(&i);
    return status;
}

static int run_info(const struct gt_cli_command *self, const void *options, size_t n,
                    char **operands)
{
    const struct info_options *o = options;
    return gt_cli_opened_run(self, &o->reader, n, operands, info, o);
}

const struct gt_cli_command gt_cli_command_info = {
    .name = "info",
    .summary = "show what a recording has: command, tasks, times, sizes, how exact it is",
    .usage = (const char *const[]){"[--json] [RECORDING]", NULL},
    .paragraphs =
        (const char *const[]){
            GT_RECORDING_HELP,
            "Anomalies are what guesttrace could only conclude while it recorded: a recording "
            "without them is exact. Counts are statistics.",
            NULL},
    .spec = {.table = info_table},
    .options_size = sizeof(struct info_options),
    .operands = GT_OPERANDS_FILES,
    .run = run_info,
};
