/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace dump`: an etrace stream as text, as it comes. */
#include "cli/command.h"
#include "cli/dump_text.h"
#include "cli/etrace_input.h"

#include <inttypes.h>
#include <unistd.h>

enum { TOLD_MAX = 5 }; /* packets that were left out */

struct dump_options {
    GPtrArray *elf;
};

static const struct gt_option dump_table[] = {
    {"elf", .type = GT_OPTION_FILE, .repeat = true, .value = "ELF[:OFFSET]",
     .help = "name the functions that ran from this file",
     .offset = offsetof(struct dump_options, elf)},
    {0},
};

struct dump {
    const struct gt_command *self;
    struct gt_etrace_input in;
    struct gt_etrace_names names;
    struct gt_output out;
    uint64_t packets, left_out;
    bool told_chained;
};

/* One packet; GT_E_FORMAT: it is damaged; GT_E_UNSUPPORTED: we do not know its kind. */
static int show(struct dump *d, const struct gt_etrace_reader *r, const struct gt_etrace_packet *p,
                struct gt_error *err)
{
    union {
        struct gt_etrace_info info;
        struct gt_etrace_arch arch;
        struct gt_etrace_exec exec;
        struct gt_etrace_tb tb;
        struct gt_etrace_mem mem;
        struct gt_etrace_event event;
        struct gt_etrace_note note;
    } u;
    int status;
    switch (p->type) {
    case GT_ETRACE_EXEC:
        if ((status = gt_etrace_get_exec(r, p, &u.exec, err)) == 0)
            gt_dump_exec(&d->out, p->unit, &u.exec, &d->names);
        return status;
    case GT_ETRACE_MEM:
        if ((status = gt_etrace_get_mem(r, p, &u.mem, err)) == 0)
            gt_dump_mem(&d->out, p->unit, &u.mem);
        return status;
    case GT_ETRACE_EVENT:
    case GT_ETRACE_EVENT_OLD:
        if ((status = gt_etrace_get_event(r, p, &u.event, err)) == 0)
            gt_dump_event(&d->out, &u.event);
        return status;
    case GT_ETRACE_NOTE:
        if ((status = gt_etrace_get_note(r, p, &u.note, err)) == 0)
            gt_dump_note(&d->out, &u.note);
        return status;
    case GT_ETRACE_ARCH:
        if ((status = gt_etrace_get_arch(r, p, &u.arch, err)) == 0)
            gt_dump_arch(&d->out, &u.arch);
        return status;
    case GT_ETRACE_INFO:
        if ((status = gt_etrace_get_info(r, p, &u.info, err)) == 0 && u.info.attr & 1 &&
            !d->told_chained) {
            d->told_chained = true;
            gt_command_fail(d->self, 0, "%s: blocks were chained: not all that ran is listed",
                            d->in.name);
        }
        return status;
    case GT_ETRACE_TB:
        return gt_etrace_get_tb(r, p, &u.tb, err); /* its note shows it */
    case GT_ETRACE_BARRIER:
        return 0;
    default:
        return gt_error_set(err, GT_E_UNSUPPORTED,
                            "%s offset %" PRIu64 ": packet of unknown type 0x%x and %" PRIu32
                            " bytes",
                            d->in.name, p->offset, p->type, p->len);
    }
}

static void leave_out(struct dump *d, const struct gt_error *why)
{
    gt_output_flush(&d->out); /* what came before it stands before the message */
    if (d->left_out++ < TOLD_MAX)
        gt_command_fail(d->self, 0, "%s: left out", why->text);
}

static int show_all(struct dump *d, struct gt_etrace_reader *r, struct gt_error *err)
{
    struct gt_etrace_packet p;
    struct gt_error why;
    int status;
    while ((status = gt_etrace_next(r, &p, err)) == 1 && !d->out.failed) {
        d->packets++;
        if (show(d, r, &p, &why) < 0)
            leave_out(d, &why);
    }
    if (status == 0 && !d->packets)
        return gt_error_set(err, GT_E_FORMAT, "%s: empty, expected an etrace stream", d->in.name);
    return status < 0 ? status : 0;
}

static void when_idle(void *self)
{
    gt_output_flush(&((struct dump *)self)->out);
}

static int dump_from(struct dump *d, const char *where, struct gt_error *err)
{
    struct gt_etrace_reader *r;
    int status = gt_etrace_input_open(&d->in, where, err);
    if (status == 0 && d->in.listener >= 0) {
        gt_command_fail(d->self, 0, "%s: waiting for a writer", where);
        status = gt_etrace_input_wait(&d->in, err);
    }
    d->in.idle = when_idle;
    d->in.idle_self = d;
    if (status == 0)
        status = gt_etrace_reader_create(gt_etrace_input_read, &d->in, d->in.name, &r, err);
    if (status < 0)
        return status;
    status = show_all(d, r, err);
    gt_etrace_reader_destroy(r);
    return status;
}

static int run_dump(const struct gt_command *self, const void *options, size_t n, char **operands)
{
    const struct dump_options *opt = options;
    struct gt_error err = {0}, write_err = {0};
    if (n != 1)
        return gt_command_usage_error(self, "takes one stream: FILE, - or unix:PATH");
    g_autofree struct dump *d = g_new0(struct dump, 1);
    d->self = self;
    d->in.fd = d->in.listener = -1;
    gt_output_init(&d->out, STDOUT_FILENO);
    int status = gt_etrace_names_load(&d->names, opt->elf ? opt->elf->len : 0,
                                      opt->elf ? (const char **)opt->elf->pdata : NULL, &err);
    if (status == 0)
        status = dump_from(d, operands[0], &err);
    if (gt_output_finish(&d->out, "standard output", &write_err) < 0) {
        status = write_err.status;
        err = write_err;
    }
    if (status < 0)
        gt_command_fail(self, 0, "%s", err.text);
    if (d->left_out > TOLD_MAX)
        gt_command_fail(self, 0, "%s: %" PRIu64 " packets were left out", d->in.name, d->left_out);
    bool failed = status < 0 || d->left_out;
    gt_etrace_input_close(&d->in);
    gt_etrace_names_free(&d->names);
    return failed ? GT_EXIT_FAILED : GT_EXIT_DONE;
}

const struct gt_command gt_command_dump = {
    .name = "dump",
    .summary = "print an etrace stream as text, from a file or live",
    .usage = (const char *const[]){"[--elf ELF[:OFFSET]]... FILE|unix:PATH", NULL},
    .paragraphs =
        (const char *const[]){
            "Prints a line an item: \"E<unit> <start> <end> [function]\" for code that ran, from"
            " start to before end; \"M<unit> <time> r|w <physical address> <value>\" for memory;"
            " \"EV <time> <unit> <device>.<event> <value>\" for events; notes as they are."
            " Addresses and values of memory are hexadecimal, the other numbers decimal.",
            "unix:PATH connects to a plugin that was told to write there; where none listens yet,"
            " it is waited for. \"-\" is standard input.",
            "OFFSET (decimal, or hex after 0x) is added to the addresses ELF is linked for.",
            "A packet that is damaged or of an unknown type is left out and told with its offset;"
            " where the stream ends within one, or one is too long, what came before is shown."
            " Either way the exit status is 1.",
            NULL},
    .options = dump_table,
    .options_size = sizeof(struct dump_options),
    .operands = GT_OPERANDS_FILES,
    .run = run_dump,
};
