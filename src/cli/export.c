/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace export`: a recording of calls in another format. */
#include "base/number.h"
#include "cli/opened.h"
#include "cli/output_file.h"
#include "cli/window.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum kind { TO_RECORDING, TO_TOOL, TO_FOLDER, TO_PAGE };

struct format {
    const char *name;
    enum kind kind;
    enum gtrace_format format; /* TO_TOOL */
    /* TO_RECORDING: */
    enum gtrace_form form;
    const char *from; /* what it takes where nothing is named */
    bool paths;       /* small ones are left out */
};

/* A row a format; names stand in format_names, too. */
static const struct format formats[] = {
    {"uftrace", TO_RECORDING, .form = GTRACE_DIRECTORY, .from = GT_DEFAULT_FILE},
    {"compact", TO_RECORDING, .form = GTRACE_FILE, .from = GT_DEFAULT_DIRECTORY},
    {"perfetto", TO_TOOL, GTRACE_FORMAT_PERFETTO},
    {"chrome", TO_TOOL, GTRACE_FORMAT_CHROME},
    {"folded", TO_TOOL, GTRACE_FORMAT_FOLDED, .paths = true},
    {"speedscope", TO_TOOL, GTRACE_FORMAT_SPEEDSCOPE, .paths = true},
    {"callgrind", TO_TOOL, GTRACE_FORMAT_CALLGRIND},
    {"pprof", TO_TOOL, GTRACE_FORMAT_PPROF},
    {"firefox", TO_TOOL, GTRACE_FORMAT_FIREFOX, .paths = true},
    {"perf", TO_TOOL, GTRACE_FORMAT_PERF, .paths = true},
    {"ctf", TO_FOLDER},
    {"html", TO_PAGE},
};

static const char *const format_names[] = {
    "uftrace", "compact", "perfetto", "chrome", "folded", "speedscope", "callgrind",
    "pprof",   "firefox", "perf",     "ctf",    "html",   NULL};
static const uint64_t page_default = 5 << 20, page_most = 1 << 30;
static const double least_default = 0.0001;
static const char *const value_names[] = {"time", "calls", NULL};
_Static_assert(G_N_ELEMENTS(format_names) == G_N_ELEMENTS(formats) + 1, "each format has a name");

struct export_options {
    const char *format, *output, *values, *size, *least;
    GPtrArray *elf;
    struct gt_cli_window_options window;
    bool quiet, all;
};

static const struct gt_cli_option export_table[] = {
    {"format", 'f', GT_OPTION_CHOICE, .value = "FORMAT", .choices = format_names,
     .help = "the format to write", .heading = GT_UNDER_OUTPUT | GT_OPTION_FIRST,
     .offset = offsetof(struct export_options, format)},
    {"output", 'o', GT_OPTION_FILE, .value = "PATH",
     .help = "write to PATH; - is standard output, where the format is one file for other tools",
     .heading = GT_UNDER_OUTPUT | GT_OPTION_FIRST,
     .offset = offsetof(struct export_options, output)},
    GT_WINDOW_OPTIONS(struct export_options, window),
    {"values", .type = GT_OPTION_CHOICE, .value = "VALUES", .choices = value_names,
     .help = "folded: the time of each stack of calls (the default), or how often it was called",
     .heading = GT_UNDER_SHOWN | GT_OPTION_FIRST,
     .offset = offsetof(struct export_options, values)},
    {"min", .type = GT_OPTION_TEXT, .value = "SHARE",
     .help =
         "folded, speedscope, firefox, perf: paths with less than SHARE (default: 0.01%) of all "
         "time are added to their callers'",
     .heading = GT_UNDER_SHOWN, .offset = offsetof(struct export_options, least)},
    {"all", .type = GT_OPTION_FLAG, .help = "the same formats: all paths, as --min 0%",
     .heading = GT_UNDER_SHOWN, .offset = offsetof(struct export_options, all)},
    {"size", .type = GT_OPTION_TEXT, .value = "SIZE",
     .help =
         "html: at most so large (K, M: powers of 1024; default: 5M): calls that do not fit are "
         "summed up",
     .heading = GT_UNDER_OUTPUT | GT_OPTION_FIRST, .offset = offsetof(struct export_options, size)},
    GT_WALL_OPTION(struct export_options, window),
    GT_QUIET_OPTION(struct export_options, quiet),
    {"elf", 'e', GT_OPTION_FILE, .repeat = true, .value = "ELF[:OFFSET]",
     .help = "etrace streams: take functions from this file",
     .heading = GT_UNDER_NAMES | GT_OPTION_FIRST, .offset = offsetof(struct export_options, elf)},
    {0},
};

static const struct format *format_of(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(formats); i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

static bool of_counts(const struct export_options *o)
{
    return o->values && strcmp(o->values, "calls") == 0;
}

/* Of --size; 0: it is none. */
static uint64_t page_size(const struct export_options *o)
{
    uint64_t size;
    const unsigned kinds = GT_QUANTITY_NUMBER | GT_QUANTITY_SIZE;
    if (!o->size)
        return page_default;
    return gt_text_quantity_parse(o->size, strlen(o->size), kinds, &size) > 0 && size <= page_most
               ? size
               : 0;
}

/* Sums of paths: with a begin or an end, firefox and perf have each change of the stack. */
static bool has_paths(const struct export_options *o)
{
    const struct format *f = format_of(o->format);
    return f->paths && (f->format == GTRACE_FORMAT_FOLDED ||
                        f->format == GTRACE_FORMAT_SPEEDSCOPE || !(o->window.from || o->window.to));
}

/* Of --min and --all, a share of 1; below 0: it is none. */
static double least_of(const struct export_options *o)
{
    if (!o->least)
        return o->all || !format_of(o->format)->paths ? 0 : least_default;
    const size_t n = strspn(o->least, "0123456789.");
    char *end;
    const double share = g_ascii_strtod(o->least, &end) / 100;
    return n && end == o->least + n && strcmp(end, "%") == 0 && share <= 1 ? share : -1;
}

/* The recording that is written, and another one that the page compares it with. */
struct source {
    struct gtrace *trace, *other; /* other NULL: nothing */
    struct gt_cli_window window;
    bool is_empty; /* the options leave nothing, which is the error */
};

static int write_page(const struct export_options *o, const struct source *s, int fd,
                      const char *name, struct gt_error *err)
{
    struct gtrace_error e = {.size = sizeof e};
    struct gtrace_facts f = {.size = sizeof f};
    const int status = gtrace_export_page(s->trace, s->other, page_size(o), fd, &e);
    if (status >= 0)
        return 0;
    if (status != GTRACE_E_RANGE)
        return gt_cli_opened_fail_output(err, status, &e, errno, name);
    gtrace_facts(s->trace, &f);
    return gt_error_set(err, status, "%s: %s; raise --size", f.path, e.text);
}

static int write_format(const struct export_options *o, struct source *s, int fd, const char *name,
                        struct gt_error *err)
{
    const struct format *f = format_of(o->format);
    struct gtrace_error e = {.size = sizeof e};
    if (f->kind == TO_PAGE)
        return write_page(o, s, fd, name, err);
    const enum gtrace_format format = of_counts(o) ? GTRACE_FORMAT_FOLDED_CALLS : f->format;
    const struct gtrace_export_options how = {.size = sizeof how, .least = least_of(o)};
    int status = f->kind == TO_FOLDER
                     ? gtrace_export_ctf(s->trace, &s->window.part, o->output, &e)
                     : gtrace_export_with(s->trace, &s->window.part, format, &how, fd, &e);
    if (status < 0)
        return gt_cli_opened_fail_output(err, status, &e, errno, name);
    if (status == 0)
        status = gt_cli_window_nothing(&o->window, s->trace, err);
    s->is_empty = status < 0;
    return MIN(status, 0);
}

/* The file gets its name when it is complete. */
static int write_file(const struct export_options *o, struct source *s, struct gt_error *err)
{
    const char *path = o->output;
    const bool standard = strcmp(path, "-") == 0;
    struct gt_cli_output_file file = {.fd = STDOUT_FILENO};
    struct gt_error write_err = {0};
    if (!standard && gt_cli_output_file_open(&file, path, err) < 0)
        return err->status;
    int status = write_format(o, s, file.fd, standard ? "standard output" : path, err);
    if (!standard && gt_cli_output_file_finish(&file, status == 0, &write_err) < 0 && status == 0)
        status = gt_error_set(err, GT_E_IO, "%s", write_err.text);
    return status;
}

static int write_calls(const struct gt_cli_command *self, const struct export_options *o,
                       const char *const from[2], struct gt_error *err)
{
    struct source s = {0};
    const struct gt_error_notices notices = gt_cli_default_notices(self, o->quiet);
    int status = gt_cli_opened_open_any(from[0], o->elf, &notices, &s.trace, err);
    if (status == 0 && from[1])
        status = gt_cli_opened_open_any(from[1], o->elf, &notices, &s.other, err);
    if (status == 0)
        status = gt_cli_window_make(&o->window, s.trace, &s.window, err);
    if (status == 0 && format_of(o->format)->kind == TO_FOLDER)
        status = write_format(o, &s, -1, o->output, err);
    else if (status == 0)
        status = write_file(o, &s, err);
    const char *unused = (status == 0 || s.is_empty) && s.window.part.filter
                             ? gtrace_filter_unused(s.window.part.filter, 0)
                             : NULL;
    if (unused)
        status = gt_error_set(err, GT_E_NOT_FOUND, "%s", unused);
    gt_cli_window_clear(&s.window);
    gtrace_close(s.other);
    gtrace_close(s.trace);
    return status;
}

static bool has_window(const struct gt_cli_window_options *w)
{
    return w->from || w->to || w->min_time || w->tasks || w->depth || gt_cli_window_has_filter(w);
}

/* What the options ask for, once they are checked. */
struct job {
    const struct gt_cli_command *command;
    const struct export_options *o;
    const char *from[2];
};

static int write_recording(const struct job *job, enum gtrace_form form, struct gt_error *err)
{
    const struct gt_error_notices notices = gt_cli_default_notices(job->command, job->o->quiet);
    const struct gtrace_options how = {
        .size = sizeof how, .notice = notices.put, .user = notices.self};
    struct gtrace_error e = {.size = sizeof e};
    const int status = gtrace_convert(job->from[0], job->o->output, form, &how, &e);
    return status < 0 ? gt_cli_opened_fail(err, status, &e) : 0;
}

static int do_export(void *self)
{
    const struct job *job = self;
    const struct format *f = format_of(job->o->format);
    struct gt_error err = {0};
    int status = f->kind == TO_RECORDING ? write_recording(job, f->form, &err)
                                         : write_calls(job->command, job->o, job->from, &err);
    if (status == GT_E_USAGE)
        return gt_cli_command_usage_error(job->command, "%s", err.text);
    return status < 0 ? gt_cli_command_fail(job->command, GT_EXIT_FAILED, "%s", err.text)
                      : GT_EXIT_DONE;
}

static int check_least(const struct gt_cli_command *self, const struct export_options *o)
{
    const char *given = o->least ? "--min" : "--all";
    if (!o->least && !o->all)
        return 0;
    if (o->least && o->all)
        return gt_cli_command_usage_error(self, "--min and --all exclude each other");
    if (!has_paths(o))
        return gt_cli_command_usage_error(self,
                                          "%s is for --format folded and speedscope, and for "
                                          "firefox and perf without --from and --to; --format %s "
                                          "has all here",
                                          given, o->format);
    if (least_of(o) < 0)
        return gt_cli_command_usage_error(self,
                                          "option '--min' takes a share up to 100%%, such as "
                                          "0.01%%, not '%s'",
                                          o->least);
    return 0;
}

/* What cannot be together: the status of a usage error, else 0. */
static int check(const struct gt_cli_command *self, const struct export_options *o, size_t n)
{
    const struct format *f = format_of(o->format);
    const bool page = f->kind == TO_PAGE, recording = f->kind == TO_RECORDING;
    if (n > (page ? 2 : 1))
        return gt_cli_command_usage_error(self, page ? "takes one recording, or two to compare"
                                                     : "takes one recording");
    if (page && has_window(&o->window))
        return gt_cli_command_usage_error(self,
                                          "--format html shows the whole recording: --from, --to, "
                                          "--task, --depth, --time-filter and filters are for the "
                                          "formats of other tools");
    if (o->size && (!page || !page_size(o)))
        return gt_cli_command_usage_error(self,
                                          page ? "option '--size' takes a size up to 1024M, "
                                                 "such as 5M, not '%s'"
                                               : "--size %s is for --format html",
                                          o->size);
    if (recording && (has_window(&o->window) || o->elf))
        return gt_cli_command_usage_error(
            self,
            "--format %s writes the whole recording: --from, --to, "
            "--task, --depth, --time-filter, filters and --elf are for the formats of "
            "other tools",
            f->name);
    if (of_counts(o) && f->format != GTRACE_FORMAT_FOLDED)
        return gt_cli_command_usage_error(self, "--values calls is for --format folded, not %s",
                                          f->name);
    if (o->window.wall && (page || recording))
        return gt_cli_command_usage_error(self, "--wall is for the formats of other tools, not %s",
                                          f->name);
    if ((recording || f->kind == TO_FOLDER) && strcmp(o->output, "-") == 0)
        return gt_cli_command_usage_error(
            self,
            "--format %s cannot be written to standard output; name a "
            "path ('./-' for one of that name)",
            f->name);
    return check_least(self, o);
}

static int run_export(const struct gt_cli_command *self, const void *options, size_t n,
                      char **operands)
{
    const struct export_options *o = options;
    if (!o->format || !o->output)
        return gt_cli_command_usage_error(self, "needs --format and --output");
    const struct format *f = format_of(o->format);
    const int wrong = check(self, o, n);
    if (wrong)
        return wrong;
    struct job job = {
        self,
        o,
        {n || !f->from ? gt_cli_default_recording(self, operands[0], o->quiet) : f->from,
         n > 1 ? operands[1] : NULL}};
    if (!job.from[0])
        return gt_cli_default_recording_missing(self);
    for (size_t i = 0; i < G_N_ELEMENTS(job.from) && job.from[i]; i++)
        if (gt_cli_output_file_same(o->output, job.from[i]))
            return gt_cli_command_usage_error(self, "'%s' is the recording itself", o->output);
    return strcmp(o->output, "-") == 0 ? do_export(&job)
                                       : gt_cli_guard_run(o->output, do_export, &job);
}

const struct gt_cli_command gt_cli_command_export = {
    .name = "export",
    .summary = "write a recording of calls in another format",
    .usage = (const char *const[]){"--format FORMAT --output PATH [RECORDING]",
                                   "--format FORMAT --output PATH [--from TIME] [--to TIME] "
                                   "[--task TASK]... [RECORDING]",
                                   "--format html --output PATH [RECORDING [OTHER]]", NULL},
    .paragraphs =
        (const char *const[]){
            "RECORDING is a uftrace directory or a compact file; for the formats of other tools "
            "also an etrace stream with its programs (--elf). " GT_DEFAULT_RECORDING_HELP
            " --format uftrace takes the first, --format compact the second.",
            "uftrace is a directory, compact one file with everything that the directory has, in "
            "about a hundredth of the space. perfetto is the format of ui.perfetto.dev: choose it "
            "for large recordings. chrome is JSON, four times as large, for viewers that read "
            "nothing else.",
            "The others are sums over all calls of a path of functions: small, however long the "
            "recording is. folded is for flamegraph.pl and inferno, speedscope for speedscope.app, "
            "callgrind for callgrind_annotate and KCachegrind, pprof for go tool pprof. Small "
            "paths "
            "are added to their callers' by --min, callgrind and pprof have all.",
            "firefox (for profiler.firefox.com) and perf (the text of perf script) are such sums, "
            "or with --from or --to each change of the stack in order of time. ctf is a directory "
            "for "
            "babeltrace2 and Trace Compass, with each call.",
            "html is the page of guesttrace view as one file, which needs no server and no "
            "network: "
            "the time line, flame graphs and tables of the whole recording, at most --size large. "
            "With "
            "OTHER, a second recording, it shows the difference, too.",
            "--from, --to, --task, --depth and --time-filter choose a part that the viewer can "
            "hold. "
            "A file gets its name when it is complete.",
            NULL},
    .spec = {.table = export_table},
    .options_size = sizeof(struct export_options),
    .operands = GT_OPERANDS_FILES,
    .run = run_export,
};
