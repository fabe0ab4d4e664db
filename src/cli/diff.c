/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace diff`: finds where two execlog logs differ (execlog/compare/compare.h), or what
 * functions of two recordings of calls gained (diff_calls.h). */
#include "base/json.h"
#include "base/output.h"
#include "cli/command.h"
#include "cli/diff_calls.h"
#include "execlog/compare/compare.h"

#include <malloc.h>
#include <unistd.h>

enum {
    DIFFERENT = 1, /* exit statuses, as diff(1) has them */
    TROUBLE = 2,
    CONTEXT = 5, /* lines */
    KEPT_BACK = 64 << 20,
};

struct diff_options {
    uint64_t context;
    bool quiet, json;
    struct gt_cli_diff_calls_options calls;
};

static const struct gt_cli_option diff_table[] = {
    {"context", 'c', GT_OPTION_NUMBER, .value = "N", .max = 1000, .initial = CONTEXT,
     .help = "logs: show N lines of context before and after the first difference (default: 5)",
     .offset = offsetof(struct diff_options, context)},
    {"sort", 's', GT_OPTION_TEXT, .value = "COLUMN",
     .help = "calls: by the gain or loss of self (the default), total or calls",
     .offset = offsetof(struct diff_options, calls.sort)},
    {"limit", 'l', GT_OPTION_NUMBER, .value = "N", .min = 1, .max = UINT32_MAX,
     .help = "calls: only the first N lines", .offset = offsetof(struct diff_options, calls.limit)},
    {"wall", .type = GT_OPTION_FLAG,
     .help = "calls: times have those in which tasks were suspended",
     .offset = offsetof(struct diff_options, calls.wall)},
    {"demangle", .type = GT_OPTION_FLAG, .initial = true,
     .help = "calls: demangle C++ and Rust names (the default)",
     .offset = offsetof(struct diff_options, calls.demangle)},
    {"no-demangle", .type = GT_OPTION_FLAG, .off = true, .help = "calls: do not demangle names",
     .offset = offsetof(struct diff_options, calls.demangle)},
    {"json", .type = GT_OPTION_FLAG, .help = "print JSON, a line for each difference",
     .offset = offsetof(struct diff_options, json)},
    {"quiet", 'q', GT_OPTION_FLAG, .help = "print nothing, only set the exit status",
     .offset = offsetof(struct diff_options, quiet)},
    {0},
};

/* A log without a further line has neither its number nor its text. */
static void put_json(void *self, const struct gt_diff_found *found)
{
    static const char *const keys[2][2] = {{"a_line", "a"}, {"b_line", "b"}};
    struct gt_json j;
    gt_json_init(&j, self, GT_JSON_REPLACE);
    gt_json_resume(&j);
    gt_json_begin_object(&j);
    if (found->vcpu >= 0)
        gt_json_member_u64(&j, "vcpu", (uint64_t)found->vcpu);
    for (int i = 0; i < 2; i++)
        if (found->text[i]) {
            gt_json_member_u64(&j, keys[i][0], found->line[i]);
            gt_json_member_text(&j, keys[i][1], found->text[i]);
        }
    gt_json_end_object(&j);
    gt_json_end_line(&j);
    gt_json_commit(&j);
}

static int diff_calls(const struct gt_cli_command *self, const struct diff_options *opt,
                      char **path)
{
    struct gt_cli_diff_calls_options calls = opt->calls;
    struct gt_error err = {0};
    const struct gt_error_notices notices = gt_cli_command_notices(self);
    g_autofree struct gt_output *out = g_new(struct gt_output, 1);
    gt_output_init(out, STDOUT_FILENO);
    calls.json = opt->json;
    int status = gt_cli_diff_calls(path, &calls, &notices, opt->quiet ? NULL : out, &err);
    if (gt_output_finish(out, "standard output", &err) < 0)
        status = GT_E_IO;
    if (status < 0)
        gt_cli_command_fail(self, 0, "%s", err.text);
    return status < 0 ? TROUBLE : status ? DIFFERENT : 0;
}

static int diff_logs(const struct gt_cli_command *self, const struct diff_options *opt, char **path)
{
    struct gt_error err = {0};
    mallopt(M_MMAP_THRESHOLD, KEPT_BACK); /* or lines that come and go are fresh pages each time */
    mallopt(M_TRIM_THRESHOLD, KEPT_BACK);
    const struct gt_error_notices notices = gt_cli_command_notices(self);
    struct gt_diff d;
    gt_diff_init(&d, (const char *const *)path, opt->context, &notices);
    g_autoptr(GString) text = g_string_new(NULL);
    g_autofree struct gt_output *out = g_new(struct gt_output, 1);
    gt_output_init(out, STDOUT_FILENO);
    if (opt->json && !opt->quiet) {
        d.found = put_json;
        d.found_self = out;
    }
    int status = gt_diff_run(&d, text, &err);
    if (!opt->quiet)
        gt_output_bytes(out, text->str, text->len);
    if (gt_output_finish(out, "standard output", &err) < 0)
        status = GT_E_IO;
    if (status < 0)
        gt_cli_command_fail(self, 0, "%s", err.text);
    bool trouble = status < 0 || d.side[0].damaged || d.side[1].damaged;
    int result = trouble ? TROUBLE : d.differs ? DIFFERENT : 0;
    gt_diff_clear(&d);
    return result;
}

static int run_diff(const struct gt_cli_command *self, const void *options, size_t n,
                    char **operands)
{
    const struct diff_options *opt = options;
    if (n != 2)
        return gt_cli_command_usage_error(self, "takes two recordings: A B");
    const bool calls[2] = {gt_cli_diff_calls_is_recording(operands[0]),
                           gt_cli_diff_calls_is_recording(operands[1])};
    if (calls[0] != calls[1] && access(operands[calls[0]], F_OK) == 0)
        return gt_cli_command_fail(
            self, TROUBLE, "%s is a recording of calls, %s is not: expected two of one kind",
            operands[calls[1]], operands[calls[0]]);
    if (calls[0] || calls[1])
        return diff_calls(self, opt, operands);
    if (opt->calls.sort || opt->calls.limit || opt->calls.wall)
        return gt_cli_command_usage_error(
            self, "--sort, --limit, --wall: go with two recordings of calls");
    return diff_logs(self, opt, operands);
}

const struct gt_cli_command gt_cli_command_diff = {
    .name = "diff",
    .summary = "show what differs between two recordings, or two instruction logs",
    .usage = (const char *const[]){"[--sort COLUMN] [--limit N] [--wall] [--json] A B",
                                   "[--context N] [--json] [--quiet] A B", NULL},
    .paragraphs =
        (const char *const[]){
            "Of two recordings of calls diff shows each function whose calls or times differ: its "
            "values in B and what it gained from A to B, the largest change first. A function of A "
            "is that "
            "of B with the same name, in a file of the same name. Times are those that tasks ran.",
            "Else A and B are execlog logs, as text or in binary form; one of them may be \"-\", "
            "standard input. The lines of each vCPU are compared separately, so the order of lines "
            "of different vCPUs does not matter. For each vCPU diff shows the first lines that "
            "differ, with the lines around them, the difference, and the values of the watched "
            "registers before it.",
            "Lines of A begin with \"-\", lines of B with \"+\", common lines with blanks. If a "
            "log has no more lines of the vCPU, \"(no more lines)\" is shown. Reading ends when "
            "all vCPUs seen so far differ.",
            "Values of accesses are compared if both logs have them.",
            "Programs and their stacks lie elsewhere in each run: record both with 'guesttrace "
            "record --no-aslr'.",
            "--json prints an object for each vCPU whose lines differ: vcpu, a_line and b_line, "
            "the "
            "numbers of the lines, and a and b, the lines; a log that has no more has neither. Of "
            "recordings of calls it prints an object for each function: function, module, "
            "a_self_ns, "
            "a_total_ns, a_calls, and the same of b.",
            "The exit status is 0 if they are the same, 1 if they differ, 2 if one could not "
            "be read completely.",
            NULL},
    .spec = {.table = diff_table},
    .options_size = sizeof(struct diff_options),
    .operands = GT_OPERANDS_FILES,
    .run = run_diff,
};
