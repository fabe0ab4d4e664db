/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace export`: a recording of calls in another format. */
#include "analysis/recording/compact.h"
#include "cli/command.h"

#include <string.h>

/* Writes the recording at `from` to `to`. */
struct format {
    const char *name;
    int (*write)(const char *from, const char *to, struct gt_error *err);
};

static int write_uftrace(const char *from, const char *to, struct gt_error *err)
{
    return gt_recording_unpack(from, to, err);
}

static int write_compact(const char *from, const char *to, struct gt_error *err)
{
    return gt_recording_pack(from, to, err);
}

static const struct format formats[] = {{"uftrace", write_uftrace}, {"compact", write_compact}};

static const char *const format_names[] = {"uftrace", "compact", NULL};

struct export_options {
    const char *format, *output;
};

static const struct gt_option export_table[] = {
    {"format", 'f', GT_OPTION_CHOICE, .value = "FORMAT", .choices = format_names,
     .help = "the format to write: uftrace, a directory; compact, one file",
     .offset = offsetof(struct export_options, format)},
    {"output", 'o', GT_OPTION_FILE, .value = "PATH", .help = "write to PATH",
     .offset = offsetof(struct export_options, output)},
    {0},
};

static int run_export(const struct gt_command *self, const void *options, size_t n, char **operands)
{
    const struct export_options *o = options;
    struct gt_error err = {0};
    if (n != 1)
        return gt_command_usage_error(self, "needs one recording");
    if (!o->format || !o->output)
        return gt_command_usage_error(self, "needs --format and --output");
    for (size_t i = 0; i < G_N_ELEMENTS(formats); i++)
        if (strcmp(formats[i].name, o->format) == 0 &&
            formats[i].write(operands[0], o->output, &err) < 0)
            return gt_command_fail(self, GT_EXIT_FAILED, "%s", err.text);
    return GT_EXIT_DONE;
}

const struct gt_command gt_command_export = {
    .name = "export",
    .summary = "write a recording in another format",
    .usage = (const char *const[]){"--format FORMAT --output PATH RECORDING", NULL},
    .paragraphs =
        (const char *const[]){
            "RECORDING is the directory of a recording of calls, or a compact file. A compact file "
            "has everything that the directory has, in about a hundredth of the space. The output "
            "gets its name when it is complete.",
            NULL},
    .spec = {.table = export_table},
    .options_size = sizeof(struct export_options),
    .operands = GT_OPERANDS_FILES,
    .run = run_export,
};
