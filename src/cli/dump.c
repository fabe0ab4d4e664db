/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace dump`: prints an etrace stream, while it is written, or a binary execlog as text. */
#include "cli/command.h"
#include "etrace/dump/text.h"
#include "etrace/dump/walk.h"
#include "execlog/dump/execlog_text.h"
#include "recording/file_kind.h"

#include <sys/stat.h>
#include <unistd.h>

struct dump_options {
    GPtrArray *elf;
    bool demangle;
    struct gt_execlog_dump_options execlog;
};

static const struct gt_cli_option dump_table[] = {
    {"elf", 'e', GT_OPTION_FILE, .repeat = true, .value = "ELF[:OFFSET]",
     .help = "take function names from this file", .offset = offsetof(struct dump_options, elf)},
    {"demangle", .type = GT_OPTION_FLAG, .initial = true,
     .help = "demangle C++ and Rust names (the default)",
     .offset = offsetof(struct dump_options, demangle)},
    {"no-demangle", .type = GT_OPTION_FLAG, .off = true, .help = "do not demangle names",
     .offset = offsetof(struct dump_options, demangle)},
    {"from", 0, GT_OPTION_NUMBER, .value = "N", .min = 1, .max = UINT64_MAX,
     .help = "execlog: start at line N, counted from 1",
     .offset = offsetof(struct dump_options, execlog.from)},
    {"to", 0, GT_OPTION_NUMBER, .value = "N", .min = 1, .max = UINT64_MAX,
     .help = "execlog: stop after line N", .offset = offsetof(struct dump_options, execlog.to)},
    {"pc", 0, GT_OPTION_TEXT, .value = "RANGE",
     .help = "execlog: show only instructions at these addresses",
     .offset = offsetof(struct dump_options, execlog.pc)},
    {"mem", 0, GT_OPTION_TEXT, .value = "RANGE",
     .help = "execlog: show only lines with an access to these addresses",
     .offset = offsetof(struct dump_options, execlog.mem)},
    {"values", 0, GT_OPTION_FLAG,
     .help = "execlog: show the values of accesses, where they are known",
     .offset = offsetof(struct dump_options, execlog.values)},
    {0},
};

struct dump {
    struct gt_etrace_names names;
    const struct gt_error_notices *notices;
    struct gt_output out;
    bool exec;    /* there was an entry */
    bool live;    /* notes of mapped files are taken as they come */
    bool in_note; /* the last packet was a note of that unit whose line goes on in its next one */
    uint16_t note_unit;
};

static void end_note(struct dump *d)
{
    if (d->in_note)
        gt_output_text(&d->out, "\n");
    d->in_note = false;
}

static void show_note(struct dump *d, uint16_t unit, const struct gt_etrace_note *note)
{
    if (unit != d->note_unit)
        end_note(d);
    gt_output_clean(&d->out, note->text, note->len);
    if (note->len)
        d->in_note = note->text[note->len - 1] != '\n';
    d->note_unit = unit;
}

static int show_item(struct dump *d, const struct gt_etrace_reader *r,
                     const struct gt_etrace_packet *p, struct gt_error *err)
{
    union {
        struct gt_etrace_arch arch;
        struct gt_etrace_exec exec;
        struct gt_etrace_tb tb;
        struct gt_etrace_mem mem;
        struct gt_etrace_event event;
        struct gt_etrace_note note;
    } u;
    int status;
    if (p->type != GT_ETRACE_NOTE)
        end_note(d);
    switch (p->type) {
    case GT_ETRACE_EXEC:
        if ((status = gt_etrace_get_exec(r, p, &u.exec, err)) == 0)
            gt_etrace_dump_exec(&d->out, p->unit, &u.exec, &d->names);
        d->exec |= status == 0 && u.exec.n;
        return status;
    case GT_ETRACE_MEM:
        if ((status = gt_etrace_get_mem(r, p, &u.mem, err)) == 0)
            gt_etrace_dump_mem(&d->out, p->unit, &u.mem);
        return status;
    case GT_ETRACE_EVENT:
    case GT_ETRACE_EVENT_OLD:
        if ((status = gt_etrace_get_event(r, p, &u.event, err)) == 0)
            gt_etrace_dump_event(&d->out, &u.event);
        return status;
    case GT_ETRACE_NOTE:
        if ((status = gt_etrace_get_note(r, p, &u.note, err)) == 0)
            show_note(d, p->unit, &u.note);
        if (status == 0 && d->live)
            gt_etrace_names_note(&d->names, d->notices, &u.note);
        return status;
    case GT_ETRACE_ARCH:
        if ((status = gt_etrace_get_arch(r, p, &u.arch, err)) == 0)
            gt_etrace_dump_arch(&d->out, &u.arch);
        return status;
    case GT_ETRACE_TB:
        return gt_etrace_get_tb(r, p, &u.tb, err); /* its note shows it */
    default:
        return 0;
    }
}

static int show(void *self, const struct gt_etrace_reader *r, const struct gt_etrace_packet *p,
                struct gt_error *err)
{
    struct dump *d = self;
    int status = show_item(d, r, p, err);
    return status < 0 ? status : d->out.failed != 0;
}

static void flush(void *self)
{
    gt_output_flush(&((struct dump *)self)->out);
}

/* Messages stand where what they are about was. */
static void end_line(void *self)
{
    end_note(self);
    flush(self);
}

static int dump_etrace(const struct gt_error_notices *notices, const struct dump_options *opt,
                       struct dump *d, struct gt_recording_input *in, struct gt_error *err)
{
    const struct gt_etrace_walk walk = {.notices = notices,
                                        .where = in->name,
                                        .user = d,
                                        .packet = show,
                                        .pause = flush,
                                        .message = end_line};
    if (gt_execlog_dump_asked(&opt->execlog))
        return gt_error_set(err, GT_E_USAGE,
                            "%s: an etrace stream: --from, --to, --pc, --mem and --values are for"
                            " execlog's logs",
                            in->name);
    int status = gt_etrace_names_load(&d->names, opt->elf, opt->demangle, err);
    struct stat st;
    d->notices = notices;
    d->live = fstat(in->fd, &st) != 0 || !S_ISREG(st.st_mode);
    if (status == 0)
        status = gt_etrace_names_locate(&d->names, notices, in, d->live, err);
    if (status < 0)
        return status;
    status = gt_etrace_walk_in(&walk, in, err);
    end_note(d);
    return status == 0 && d->exec ? gt_etrace_names_check(&d->names, in->name, err) : status;
}

/* By the kind of file that it is. */
static int dump(const struct gt_error_notices *notices, const struct dump_options *opt,
                const struct gt_execlog_query *query, const char *where, struct dump *d,
                struct gt_error *err)
{
    struct gt_recording_input in;
    int status = gt_recording_input_start(notices, where, &in, err);
    if (status == 0)
        status = gt_recording_input_look(&in, err);
    const bool execlog = gt_execlog_is(in.first, in.n);
    if (status == 0 && !execlog)
        status =
            gt_recording_input_check(&in, GT_FILE_IS(GT_FILE_ETRACE) | GT_FILE_IS(GT_FILE_EXECLOG),
                                     "an etrace stream or an execlog log in binary form", err);
    if (status == 0 && !execlog)
        status = dump_etrace(notices, opt, d, &in, err);
    else if (status == 0 && opt->elf)
        status = gt_error_set(err, GT_E_USAGE, "%s: an execlog log: --elf is for etrace streams",
                              in.name);
    else if (status == 0)
        status = gt_execlog_dump(notices, &in, query, opt->execlog.values, &d->out, err);
    gt_recording_input_close(&in);
    return status;
}

static int run_dump(const struct gt_cli_command *self, const void *options, size_t n,
                    char **operands)
{
    const struct dump_options *opt = options;
    struct gt_error err = {0}, write_err = {0};
    struct gt_execlog_query query;
    if (n != 1)
        return gt_cli_command_usage_error(self, "takes one stream: FILE, - or unix:PATH");
    if (gt_execlog_dump_query(&opt->execlog, &query, &err) < 0)
        return gt_cli_command_usage_error(self, "%s", err.text);
    g_autofree struct dump *d = g_new0(struct dump, 1);
    gt_output_init(&d->out, STDOUT_FILENO);
    const struct gt_error_notices notices = gt_cli_command_notices(self);
    int status = dump(&notices, opt, &query, operands[0], d, &err);
    if (gt_output_finish(&d->out, "standard output", &write_err) < 0)
        status = gt_error_set(&err, GT_E_IO, "%s", write_err.text);
    bool missing = d->names.missing > 0;
    gt_etrace_names_free(&d->names);
    if (status < 0)
        gt_cli_command_fail(self, 0, "%s", err.text);
    return status < 0 || missing ? GT_EXIT_FAILED : GT_EXIT_DONE;
}

const struct gt_cli_command gt_cli_command_dump = {
    .name = "dump",
    .summary = "print an etrace stream or a binary execlog log as text, from a file or live",
    .usage = (const char *const[]){"[--elf ELF[:OFFSET]]... FILE|unix:PATH",
                                   "[--from N] [--to N] [--pc RANGE] [--mem RANGE]... FILE", NULL},
    .paragraphs =
        (const char *const[]){
            "The file type is detected from its first bytes. A binary execlog log is printed as "
            "the text that execlog writes; with --from, --to, --pc and --mem, dump uses the log's "
            "index to read only the parts of a file that have such lines. --mem takes addresses as "
            "the lines show them: physical ones for a machine. RANGE is ADDRESS or LO-HI, where HI "
            "is the first address after the range, in hex, with or without 0x. --values adds \" = "
            "0xVALUE\" to accesses.",
            "For an etrace stream dump prints a line for each item: \"E<unit> <start> <end> "
            "[function]\" for code that ran, from start to before end; \"M<unit> <time> r|w "
            "<physical address> <value>\" for memory accesses; \"EV <time> <unit> <device>.<event> "
            "<value>\" for events; the text of notes. Addresses and values of memory are "
            "hexadecimal, other numbers decimal.",
            "unix:PATH connects to a plugin that writes there; if none listens yet, dump waits for "
            "one. \"-\" is standard input.",
            "OFFSET (decimal, or hex after 0x) is added to the link addresses of ELF. Without it, "
            "dump finds a position-independent program by the stream's notes of mapped files, "
            "else, if FILE is a regular file, by its code, and prints the place. ELF may also be a "
            "kernel's image, a copy of /proc/kallsyms, or a module with its OFFSET.",
            "A packet that is damaged or of an unknown type is left out and reported with its "
            "offset. If the stream ends within a packet, or a packet is too long, dump prints "
            "everything before it. In all these cases the exit status is 1.",
            NULL},
    .spec = {.table = dump_table},
    .options_size = sizeof(struct dump_options),
    .operands = GT_OPERANDS_FILES,
    .run = run_dump,
};
