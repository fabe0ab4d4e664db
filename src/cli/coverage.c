/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace etrace coverage`: which lines of a guest's programs ran, and how often. */
#include "cli/command.h"
#include "cli/end_signals.h"
#include "cli/output_file.h"
#include "etrace/coverage/stream.h"
#include "etrace/coverage/write.h"
#include "etrace/dump/names.h"
#include "etrace/dump/walk.h"
#include "recording/file_kind.h"

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
    bool demangle, json;
};

static const struct gt_cli_option coverage_table[] = {
    {"elf", 'e', GT_OPTION_FILE, .repeat = true, .value = "ELF[:OFFSET]",
     .help = "report on this program; OFFSET is added to its link addresses",
     .offset = offsetof(struct coverage_options, elf)},
    {"format", 'f', GT_OPTION_CHOICE, .value = "FORMAT",
     .help = "the report's format (default: text)",
     .choices = (const char *const[]){"lcov", "lcov2", "cachegrind", "callgrind", "qcov", "json",
                                      "text", NULL},
     .offset = offsetof(struct coverage_options, format)},
    {"json", .type = GT_OPTION_FLAG, .help = "print JSON: the same as --format json",
     .offset = offsetof(struct coverage_options, json)},
    {"exclude", 'x', GT_OPTION_FILE, .repeat = true, .value = "FILE",
     .help = "leave out the source lines that FILE lists",
     .offset = offsetof(struct coverage_options, exclude)},
    {"demangle", .type = GT_OPTION_FLAG, .initial = true,
     .help = "demangle C++ and Rust names (the default)",
     .offset = offsetof(struct coverage_options, demangle)},
    {"no-demangle", .type = GT_OPTION_FLAG, .off = true, .help = "do not demangle names",
     .offset = offsetof(struct coverage_options, demangle)},
    {"output", 'o', GT_OPTION_FILE, .value = "OUT",
     .help = "write the report to FILE (default: standard output)",
     .offset = offsetof(struct coverage_options, output)},
    {0},
};

struct coverage_run {
    const struct gt_cli_command *self;
    struct gt_error_notices notices;
    const struct coverage_options *opt;
    const struct gt_coverage_format *format;
    struct gt_etrace_names names; /* where the programs ran */
    struct gt_recording_input in;
    struct gt_coverage_program *program; /* of each place */
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

/* ---- counts -------------------------------------------------------------------------------- */

static int load_programs(struct coverage_run *run, struct gt_error *err)
{
    const GPtrArray *elf = run->opt->elf;
    int status = 0;
    for (guint i = 0; status == 0 && i < elf->len; i++) {
        g_autofree char *path = NULL;
        bool has_offset;
        uint64_t offset;
        gt_image_symbol_source_split(elf->pdata[i], &path, &has_offset, &offset);
        status = gt_coverage_program_check(path, err);
    }
    return status < 0 ? status : gt_etrace_names_load(&run->names, elf, run->opt->demangle, err);
}

static int open_programs(struct coverage_run *run, struct gt_error *err)
{
    const struct gt_places *places = &run->names.places;
    int status = 0;
    bool any_lines = false;
    run->program = g_new0(struct gt_coverage_program, places->n + 1);
    for (size_t i = 0; status == 0 && i < places->n; i++) {
        struct gt_coverage_program *p = &run->program[run->n++];
        const struct gt_place *place = &places->place[i];
        status =
            gt_coverage_program_open(place->source->opened, place->offset, p, &run->counts, err);
        any_lines |= p->lines != NULL;
    }
    if (status == 0 && !any_lines && run->format->needs_lines)
        return gt_error_set(err, GT_E_NOT_FOUND,
                            "%s: no line table and no debug file; -f text and cachegrind need none",
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

/* A report of nothing but zeros would look like one of programs that do nothing. */
static int check_counts(const struct coverage_run *run, const char *path, struct gt_error *err)
{
    const struct gt_coverage *c = &run->counts;
    if (c->entries == 0)
        gt_cli_command_fail(run->self, 0, "%s: contains no executed code", path);
    else if (c->elsewhere == c->entries)
        return gt_error_set(
            err, GT_E_NOT_FOUND,
            "%s: none of its %" PRIu64
            " entries is inside the given programs; give their load offset with ELF:OFFSET",
            path, c->entries);
    return 0;
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
    struct gt_cli_output_file file = {.fd = STDOUT_FILENO};
    struct gt_error close_err = {0};
    if (text->failed)
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    if (path && gt_cli_output_file_open(&file, path, err) < 0)
        return err->status;
    int status = 0;
    if (put_bytes(file.fd, text) != 0)
        status =
            gt_error_errno(err, errno, "%s: cannot be written", path ? path : "standard output");
    if (path && gt_cli_output_file_finish(&file, status == 0, &close_err) < 0)
        status = gt_error_set(err, GT_E_IO, "%s", close_err.text);
    return status;
}

static void demangle(struct gt_image_demangler *d, const struct gt_coverage_report *report)
{
    for (guint i = 0; i < report->functions->len; i++) {
        struct gt_coverage_function *f =
            &g_array_index(report->functions, struct gt_coverage_function, i);
        f->name = gt_image_demangle(d, f->name);
    }
}

static int write_report(struct coverage_run *run, struct gt_error *err)
{
    struct gt_coverage_report report;
    struct gt_text text = {0};
    gt_coverage_finish(&run->counts);
    gt_coverage_report_make(run->program, run->n, &run->counts, &run->exclude, &report);
    demangle(run->names.demangler, &report);
    run->format->write(&report, &text);
    int status = put_text(run, &text, err);
    gt_text_free(&text);
    gt_coverage_report_clear(&report);
    return status;
}

/* The stream is read, perhaps not to its end. */
static int report(struct coverage_run *run, const char *path,
                  const struct gt_coverage_stream *stream, struct gt_error *err)
{
    int status = check_machine(run, path, stream, err);
    if (status == 0)
        status = check_counts(run, path, err);
    return status == 0 ? write_report(run, err) : status;
}

static int read_stream(struct coverage_run *run, struct gt_error *err)
{
    struct gt_coverage_stream stream;
    const char *path = run->in.name;
    int status = gt_coverage_read(&run->notices, &run->in, &run->counts, &stream, err);
    if (status == 0)
        return report(run, path, &stream, err);
    if (!run->counts.entries)
        return status;
    gt_cli_command_fail(run->self, 0, "%s; the report covers the part before", err->text);
    int made = report(run, path, &stream, err);
    return made < 0 ? made : 1;
}

/* 0; 1: a failure, which was reported. */
static int make_report(struct coverage_run *run, const char *path, struct gt_error *err)
{
    int status = load_programs(run, err);
    if (status == 0)
        status = gt_recording_input_start(&run->notices, path, &run->in, err);
    if (status < 0)
        return status;
    run->in.end = gt_cli_end_signals_catch();
    status = gt_recording_input_look(&run->in, err);
    if (status == 0)
        status =
            gt_recording_input_check(&run->in, GT_FILE_IS(GT_FILE_ETRACE), "an etrace stream", err);
    if (status == 0 && gt_recording_kind(run->in.first, run->in.n) == GT_FILE_UNKNOWN)
        status = gt_error_set(err, GT_E_FORMAT, "%s: of an unknown type, expected an etrace stream",
                              path);
    if (status == 0)
        status = gt_etrace_names_locate(&run->names, &run->notices, &run->in, false, err);
    if (status == 0)
        status = open_programs(run, err);
    if (status == 0)
        status = read_stream(run, err);
    return status == 0 && run->names.missing ? 1 : status;
}

struct job {
    const struct gt_cli_command *command;
    const struct coverage_options *o;
    const char *from;
};

static int do_coverage(void *self)
{
    const struct job *job = self;
    const struct coverage_options *o = job->o;
    struct coverage_run run = {.self = job->command,
                               .notices = gt_cli_command_notices(job->command),
                               .opt = o,
                               .in = {.fd = -1, .listener.fd = -1}};
    struct gt_error err = {0};
    run.format = format_named(o->json ? "json" : o->format ? o->format : "text");
    int status = make_report(&run, job->from, &err);
    if (status < 0)
        gt_cli_command_fail(job->command, 0, "%s", err.text);
    for (size_t i = 0; i < run.n; i++)
        gt_coverage_program_close(&run.program[i]);
    g_free(run.program);
    gt_coverage_free(&run.counts);
    gt_coverage_exclude_clear(&run.exclude);
    gt_etrace_names_free(&run.names);
    gt_cli_end_signals_restore();
    gt_recording_input_close(&run.in);
    return status ? GT_EXIT_FAILED : GT_EXIT_DONE;
}

static int run_coverage(const struct gt_cli_command *self, const void *options, size_t n,
                        char **operands)
{
    const struct coverage_options *opt = options;
    struct job job = {self, opt, operands[0]};
    if (n == 0)
        return gt_cli_command_usage_error(self, "needs a stream");
    if (n > 1)
        return gt_cli_command_usage_error(self, "unexpected '%s'", operands[1]);
    if (!opt->elf)
        return gt_cli_command_usage_error(self, "needs --elf, a program that ran");
    if (opt->json && opt->format && strcmp(opt->format, "json") != 0)
        return gt_cli_command_usage_error(self, "takes one of --json and --format %s", opt->format);
    return opt->output ? gt_cli_guard_run(opt->output, do_coverage, &job) : do_coverage(&job);
}

const struct gt_cli_command gt_cli_command_coverage = {
    .name = "coverage",
    .now = "etrace coverage",
    .summary = "report which source lines of a guest's programs ran, and how often",
    .usage = (const char *const[]){"[OPTION]... -e ELF[:OFFSET] FILE|unix:PATH", NULL},
    .paragraphs =
        (const char *const[]){
            "FILE is an etrace stream (unix:PATH: a socket, -: standard input), recorded by "
            "libetrace.so with flags=exec or flags=coverage. Programs need no instrumentation, "
            "only source lines (gcc -g), in the file itself or in its separate debug file.",
            "OFFSET (decimal, or hex after 0x) is added to the link addresses of ELF. Without it, "
            "coverage finds a position-independent program by the stream's notes of mapped files, "
            "else by its code, and prints the place. If no code of the programs ran, that is an "
            "error, and there is no report.",
            "Formats: lcov for genhtml; cachegrind for cg_annotate and callgrind for"
            " callgrind_annotate, with the instructions that each line ran; qcov, the sources with"
            " a count before each line, as gcov writes them; json, counts of functions and lines "
            "by "
            "file; text, a summary.",
            "Each line of the list of --exclude is FILE, FILE:LINE or FILE:FIRST-LAST, where FILE "
            "is a source file or the end of its path.",
            NULL},
    .spec = {.table = coverage_table},
    .options_size = sizeof(struct coverage_options),
    .operands = GT_OPERANDS_FILES,
    .run = run_coverage,
};
