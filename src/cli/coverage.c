/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace coverage`: which lines of a guest's programs ran, and how often. */
#include "cli/command.h"
#include "cli/coverage_stream.h"
#include "cli/coverage_write.h"
#include "cli/output_file.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

struct coverage_options {
    GPtrArray *elf;
    GPtrArray *exclude;
    const char *format;
    const char *output;
};

static const struct gt_option coverage_table[] = {
    {"elf", 'e', GT_OPTION_FILE, .repeat = true, .value = "ELF[:OFFSET]",
     .help = "a program that ran, linked OFFSET below where it did",
     .offset = offsetof(struct coverage_options, elf)},
    {"format", 'f', GT_OPTION_CHOICE, .value = "FORMAT", .help = "the report (default: text)",
     .choices =
         (const char *const[]){"lcov", "lcov2", "cachegrind", "callgrind", "qcov", "text", NULL},
     .offset = offsetof(struct coverage_options, format)},
    {"exclude", 'x', GT_OPTION_FILE, .repeat = true, .value = "FILE",
     .help = "leave out the source lines that FILE lists",
     .offset = offsetof(struct coverage_options, exclude)},
    {"output", 'o', GT_OPTION_FILE, .value = "OUT",
     .help = "write the report there (default: standard output)",
     .offset = offsetof(struct coverage_options, output)},
    {0},
};

struct coverage_run {
    const struct gt_command *self;
    const struct coverage_options *opt;
    const struct gt_coverage_format *format;
    struct gt_coverage_program *program;
    size_t n;
    struct gt_coverage counts;
    struct gt_coverage_exclude exclude;
};

static const struct gt_coverage_format *format_named(const char *name)
{
    for (size_t i = 0; gt_coverage_format_at(i); i++)
        if (strcmp(gt_coverage_format_at(i)->name, name) == 0)
            return gt_coverage_format_at(i);
    return NULL;
}

/* ---- what is counted ----------------------------------------------------------------------- */

static int open_programs(struct coverage_run *run, struct gt_error *err)
{
    int status = 0;
    bool any_lines = false;
    for (guint i = 0; status == 0 && i < run->opt->elf->len; i++) {
        struct gt_coverage_program *p = &run->program[run->n++];
        status = gt_coverage_program_open(run->opt->elf->pdata[i], p, &run->counts, err);
        any_lines |= p->lines != NULL;
    }
    if (status == 0 && !any_lines && run->format->needs_lines)
        return gt_error_set(err, GT_E_NOT_FOUND,
                            "%s: no line table, nor a debug file; -f text and cachegrind can do"
                            " without",
                            run->program[0].path);
    for (guint i = 0; status == 0 && run->opt->exclude && i < run->opt->exclude->len; i++)
        status = gt_coverage_exclude_read(run->opt->exclude->pdata[i], &run->exclude, err);
    return status == 0 ? gt_coverage_begin(&run->counts, err) : status;
}

/* A PC's 64-bit machine may run 32-bit programs. */
static bool same_machine(uint16_t guest, uint16_t program)
{
    return guest == program || (guest == EM_X86_64 && program == EM_386);
}

static int check_machine(const struct coverage_run *run, const char *path,
                         const struct gt_coverage_stream *stream, struct gt_error *err)
{
    for (size_t i = 0; stream->has_arch && i < run->n; i++) {
        const struct gt_coverage_program *p = &run->program[i];
        if (!same_machine(stream->machine, p->symbols->e_machine))
            return gt_error_set(err, GT_E_USAGE,
                                "%s: for machine %u of ELF, but the guest of %s was machine %u",
                                p->path, p->symbols->e_machine, path, stream->machine);
    }
    return 0;
}

/* What a reader of the report should know, on stderr. */
static void say_doubts(const struct coverage_run *run, const char *path)
{
    const struct gt_coverage *c = &run->counts;
    if (c->entries == 0)
        gt_command_fail(run->self, 0, "%s: says of no code that it ran", path);
    else if (c->elsewhere == c->entries)
        gt_command_fail(run->self, 0,
                        "%s: none of its %" PRIu64
                        " entries lies in the programs' code; say where they ran, ELF:OFFSET",
                        path, c->entries);
}

/* ---- the report ---------------------------------------------------------------------------- */

static int put_bytes(int fd, const struct gt_text *text)
{
    for (size_t at = 0; at < text->len;) {
        ssize_t n = write(fd, text->data + at, text->len - at);
        if (n < 0 && errno != EINTR)
            return -1;
        at += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static int put_text(const struct coverage_run *run, const struct gt_text *text,
                    struct gt_error *err)
{
    const char *path = run->opt->output;
    struct gt_output_file file = {.fd = STDOUT_FILENO};
    struct gt_error close_err = {0};
    if (text->failed)
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    if (path && gt_output_file_open(&file, path, err) < 0)
        return err->status;
    int status = 0;
    if (put_bytes(file.fd, text) != 0)
        status =
            gt_error_errno(err, errno, "%s: cannot be written", path ? path : "standard output");
    if (path && gt_output_file_finish(&file, status == 0, &close_err) < 0)
        status = gt_error_set(err, GT_E_IO, "%s", close_err.text);
    return status;
}

static int write_report(struct coverage_run *run, struct gt_error *err)
{
    struct gt_coverage_report report;
    struct gt_text text = {0};
    gt_coverage_finish(&run->counts);
    gt_coverage_report_make(run->program, run->n, &run->counts, &run->exclude, &report);
    run->format->write(&report, &text);
    int status = put_text(run, &text, err);
    gt_text_free(&text);
    gt_coverage_report_clear(&report);
    return status;
}

static int make_report(struct coverage_run *run, const char *path)
{
    struct gt_coverage_stream stream;
    struct gt_error err = {0};
    int status = open_programs(run, &err);
    if (status == 0) {
        status = gt_coverage_read(run->self, path, &run->counts, &stream, &err);
        bool partly = status < 0 && run->counts.entries;
        if (partly)
            gt_command_fail(run->self, 0, "%s; the report has what was whole", err.text);
        if (status == 0 || partly) {
            int made = check_machine(run, path, &stream, &err);
            if (made == 0) {
                say_doubts(run, path);
                made = write_report(run, &err);
            }
            if (partly && made == 0)
                return GT_EXIT_FAILED;
            status = made;
        }
    }
    if (status < 0)
        return gt_command_fail(run->self, GT_EXIT_FAILED, "%s", err.text);
    return GT_EXIT_DONE;
}

static int run_coverage(const struct gt_command *self, const void *options, size_t n,
                        char **operands)
{
    const struct coverage_options *opt = options;
    struct coverage_run run = {.self = self, .opt = opt};
    if (n == 0)
        return gt_command_usage_error(self, "needs a stream");
    if (n > 1)
        return gt_command_usage_error(self, "unexpected '%s'", operands[1]);
    if (!opt->elf)
        return gt_command_usage_error(self, "needs --elf, a program that ran");
    run.format = format_named(opt->format ? opt->format : "text");
    run.program = g_new0(struct gt_coverage_program, opt->elf->len);
    int status = make_report(&run, operands[0]);
    for (size_t i = 0; i < run.n; i++)
        gt_coverage_program_close(&run.program[i]);
    g_free(run.program);
    gt_coverage_free(&run.counts);
    gt_coverage_exclude_clear(&run.exclude);
    return status;
}

const struct gt_command gt_command_coverage = {
    .name = "coverage",
    .summary = "tell which source lines of a guest's programs ran, and how often",
    .usage = (const char *const[]){"[-f FORMAT] [-o OUT] -e ELF[:OFFSET] FILE|unix:PATH", NULL},
    .paragraphs =
        (const char *const[]){
            "FILE is an etrace stream (unix:PATH: a socket, -: standard input): libetrace.so "
            "records it,"
            " with flags=exec or flags=coverage. Programs need no instrumentation, only lines"
            " (gcc -g), in the file itself or in its separate debug file.",
            "OFFSET (decimal, or hex after 0x) is added to the addresses ELF is linked for: where"
            " a position-independent program was loaded.",
            "Formats: lcov for genhtml; cachegrind for cg_annotate and callgrind for"
            " callgrind_annotate, with the instructions that each line ran; qcov, the sources with"
            " a count before each line, as gcov writes them; text, a summary.",
            "A line of the list of --exclude is FILE, FILE:LINE or FILE:FIRST-LAST, FILE being a"
            " source file or the end of its path.",
            NULL},
    .options = coverage_table,
    .options_size = sizeof(struct coverage_options),
    .operands = GT_OPERANDS_FILES,
    .run = run_coverage,
};
