/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace etrace export`: converts an etrace stream to formats of other tools. */
#include "etrace/convert/convert.h"

#include "cli/command.h"
#include "cli/end_signals.h"
#include "cli/output_file.h"
#include "etrace/dump/walk.h"

#include <string.h>
#include <unistd.h>

static const struct gt_etrace_convert_format *const formats[] = {
    &gt_etrace_convert_chrome,
    &gt_etrace_convert_folded,
    &gt_etrace_convert_vcd,
};

static const char *const format_names[] = {"chrome", "folded", "vcd", NULL};

struct convert_options {
    const char *format, *output;
    GPtrArray *elf;
    bool demangle;
};

static const struct gt_cli_option convert_table[] = {
    {"format", 'f', GT_OPTION_CHOICE, .value = "FORMAT", .choices = format_names,
     .help = "the output format (default: chrome)",
     .offset = offsetof(struct convert_options, format)},
    {"elf", 'e', GT_OPTION_FILE, .repeat = true, .value = "ELF[:OFFSET]",
     .help = "take function names and calls from this file",
     .offset = offsetof(struct convert_options, elf)},
    {"demangle", .type = GT_OPTION_FLAG, .initial = true,
     .help = "demangle C++ and Rust names (the default)",
     .offset = offsetof(struct convert_options, demangle)},
    {"no-demangle", .type = GT_OPTION_FLAG, .off = true, .help = "do not demangle names",
     .offset = offsetof(struct convert_options, demangle)},
    {"output", 'o', GT_OPTION_FILE, .value = "FILE",
     .help = "write to FILE (default: standard output)",
     .offset = offsetof(struct convert_options, output)},
    {0},
};

struct convert {
    const struct gt_etrace_convert_format *format;
    void *self;
    struct gt_etrace_names names;
    bool any;  /* there was a packet */
    bool exec; /* there was an entry */
    struct gt_output out;
};

static int take(void *user, const struct gt_etrace_reader *r, const struct gt_etrace_packet *p,
                struct gt_error *err)
{
    struct convert *c = user;
    struct gt_etrace_exec exec;
    struct gt_etrace_event event;
    int status = 0;
    c->any = true;
    if (p->type == GT_ETRACE_EXEC && c->format->exec) {
        if ((status = gt_etrace_get_exec(r, p, &exec, err)) == 0)
            c->format->exec(c->self, p->unit, &exec);
        c->exec |= status == 0 && exec.n;
    } else if ((p->type == GT_ETRACE_EVENT || p->type == GT_ETRACE_EVENT_OLD) && c->format->event) {
        if ((status = gt_etrace_get_event(r, p, &event, err)) == 0)
            c->format->event(c->self, &event);
    }
    return status < 0 ? status : c->out.failed != 0;
}

static const struct gt_etrace_convert_format *format_of(const char *name)
{
    for (size_t i = 0; name && i < G_N_ELEMENTS(formats); i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return formats[0];
}

static int convert_in(struct convert *c, const struct gt_error_notices *notices,
                      struct gt_recording_input *in, struct gt_error *err)
{
    const struct gt_etrace_walk walk = {notices, in->name, c, take};
    in->end = gt_cli_end_signals_catch();
    int status = gt_etrace_names_locate(&c->names, notices, in, false, err);
    if (status == 0)
        status = c->format->begin(&c->out, &c->names, &c->self, err);
    if (status < 0)
        return status;
    status = gt_etrace_walk_in(&walk, in, err);
    c->format->end(c->self);
    return status;
}

static int convert(struct convert *c, const struct gt_error_notices *notices, const char *where,
                   const struct convert_options *opt, struct gt_error *err)
{
    struct gt_recording_input in = {.fd = -1, .listener.fd = -1};
    int status = gt_etrace_names_load(&c->names, opt->elf, opt->demangle, err);
    if (status == 0)
        status = gt_recording_input_start(notices, where, &in, err);
    if (status == 0)
        status = convert_in(c, notices, &in, err);
    gt_cli_end_signals_restore();
    gt_recording_input_close(&in);
    return status;
}

/* The intact part of a damaged stream is converted; nothing of a file that is not a stream. */
static int convert_to(struct convert *c, const struct gt_error_notices *notices, const char *where,
                      const struct convert_options *opt, struct gt_error *err)
{
    struct gt_cli_output_file file = {.fd = STDOUT_FILENO};
    struct gt_error write_err = {0};
    if (opt->output && gt_cli_output_file_open(&file, opt->output, err) < 0)
        return err->status;
    gt_output_init(&c->out, file.fd);
    int status = convert(c, notices, where, opt, err);
    bool named = !c->exec || gt_etrace_names_check(&c->names, where, &write_err) == 0;
    bool keep = (c->any || status == 0) && named;
    if (!named && status == 0)
        status = gt_error_set(err, GT_E_NOT_FOUND, "%s", write_err.text);
    if (gt_output_finish(&c->out, opt->output ? opt->output : "standard output", &write_err) < 0) {
        status = gt_error_set(err, GT_E_IO, "%s", write_err.text);
        keep = false;
    }
    if (opt->output && gt_cli_output_file_finish(&file, keep, &write_err) < 0)
        status = gt_error_set(err, GT_E_IO, "%s", write_err.text);
    return status;
}

struct job {
    const struct gt_cli_command *command;
    const struct convert_options *o;
    const char *from;
};

static int do_convert(void *self)
{
    const struct job *job = self;
    struct gt_error err = {0};
    g_autofree struct convert *c = g_new0(struct convert, 1);
    c->format = format_of(job->o->format);
    const struct gt_error_notices notices = gt_cli_command_notices(job->command);
    int status = convert_to(c, &notices, job->from, job->o, &err);
    bool missing = c->names.missing > 0;
    gt_etrace_names_free(&c->names);
    if (status < 0)
        return gt_cli_command_fail(job->command, GT_EXIT_FAILED, "%s", err.text);
    return missing ? GT_EXIT_FAILED : GT_EXIT_DONE;
}

static int run_convert(const struct gt_cli_command *self, const void *options, size_t n,
                       char **operands)
{
    const struct convert_options *opt = options;
    if (n != 1)
        return gt_cli_command_usage_error(self, "takes one stream: FILE, - or unix:PATH");
    if (opt->output && gt_cli_output_file_same(opt->output, operands[0]))
        return gt_cli_command_usage_error(self, "'%s' is the stream itself", opt->output);
    struct job job = {self, opt, operands[0]};
    return opt->output ? gt_cli_guard_run(opt->output, do_convert, &job) : do_convert(&job);
}

const struct gt_cli_command gt_cli_command_convert = {
    .name = "convert",
    .now = "etrace export",
    .summary = "convert an etrace stream for trace viewers",
    .usage = (const char *const[]){"[-f FORMAT] [-e ELF[:OFFSET]]... FILE|unix:PATH", NULL},
    .paragraphs =
        (const char *const[]){
            "Formats: chrome is JSON for Perfetto and chrome://tracing: a track of functions for "
            "each unit, and a counter for each event. folded is for flame graphs: call stacks and "
            "the time spent in each. vcd has the events' values over time, for gtkwave.",
            "A stream has the code that ran, not its callers. With --elf functions have names, and "
            "their callers are reconstructed from the instructions in the file: calls, returns, "
            "jumps and interrupts. Code outside all files is [unknown]. Without --elf code is "
            "named by its address and has no callers.",
            "vcd is written at the end, so it keeps all events in memory. SIGINT and SIGTERM end "
            "the stream, and everything before is converted.",
            "OFFSET (decimal, or hex after 0x) is added to the link addresses of ELF. Without it, "
            "the command finds a position-independent program by the stream's notes of mapped "
            "files, "
            "else by its code, and prints the place. ELF may also be a kernel's image, a copy of "
            "/proc/kallsyms, or a module with its OFFSET.",
            NULL},
    .spec = {.table = convert_table},
    .options_size = sizeof(struct convert_options),
    .operands = GT_OPERANDS_FILES,
    .run = run_convert,
};
