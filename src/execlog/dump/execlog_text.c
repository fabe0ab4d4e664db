/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of binary execlogs: see execlog_text.h. */
#include "execlog/dump/execlog_text.h"

#include "base/number.h"
#include "execlog/format/select.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TOLD_MAX = 5 }; /* places that were left out */

struct dump {
    const struct gt_error_notices *notices;
    struct gt_output *out;
    struct gt_execlog_reader *r;
    struct gt_execlog_text *text;
    struct gt_execlog_selection selection;
    uint64_t left_out;
    bool any; /* something was shown */
};

/* ---- the query ----------------------------------------------------------------------------- */

bool gt_execlog_dump_asked(const struct gt_execlog_dump_options *o)
{
    return o->from || o->to || o->pc || o->mem || o->values;
}

static int parse_range(const char *option, const char *text, uint64_t *lo, uint64_t *hi,
                       struct gt_error *err)
{
    if (gt_text_range_parse(text, lo, hi))
        return 0;
    return gt_error_set(err, GT_E_USAGE, "option '--%s' takes " GT_RANGE_EXPECTED ", not '%s'",
                        option, text);
}

int gt_execlog_dump_query(const struct gt_execlog_dump_options *o, struct gt_execlog_query *out,
                          struct gt_error *err)
{
    *out = gt_execlog_all;
    out->from = o->from ? o->from : 1;
    out->to = o->to ? o->to : UINT64_MAX;
    out->by_insn = o->pc;
    out->by_access = o->mem;
    int status = 0;
    if (out->to < out->from)
        status = gt_error_set(err, GT_E_USAGE, "no lines from %" PRIu64 " to %" PRIu64, out->from,
                              out->to);
    if (status == 0 && o->pc)
        status = parse_range("pc", o->pc, &out->insn_lo, &out->insn_hi, err);
    if (status == 0 && o->mem)
        status = parse_range("mem", o->mem, &out->access_lo, &out->access_hi, err);
    return status;
}

/* ---- lines --------------------------------------------------------------------------------- */

static int put_lines(void *self, const char *text, size_t n)
{
    struct dump *d = self;
    d->any = true;
    gt_output_through(d->out, text, n);
    return d->out->failed != 0;
}

static void give(void *self)
{
    gt_execlog_text_flush(((struct dump *)self)->text);
}

static void leave_out(struct dump *d, const struct gt_error *why)
{
    give(d);
    gt_execlog_text_lose(d->text);
    if (d->left_out++ < TOLD_MAX)
        gt_error_notice(d->notices, "%s: left out", why->text);
}

static void learn(void *self, uint32_t id)
{
    struct dump *d = self;
    gt_execlog_selection_learn(&d->selection, d->r, id);
}

static int show_events(struct dump *d, const struct gt_execlog_item *item, struct gt_error *why)
{
    const uint8_t *body;
    struct gt_error bad = {0};
    int status = gt_execlog_body(d->r, item, &body, why);
    if (status < 0)
        return status;
    status = gt_execlog_text_add(d->text, &item->chunk, body, &bad);
    return status < 0 ? gt_error_set(why, status, "%.200s offset %" PRIu64 ": %.250s",
                                     gt_execlog_reader_name(d->r), item->offset, bad.text)
                      : status;
}

static int show_item(struct dump *d, const struct gt_execlog_item *item, struct gt_error *why)
{
    switch (item->chunk.type) {
    case GT_EXECLOG_DEFINITIONS:
        return gt_execlog_learn(d->r, item, why);
    case GT_EXECLOG_EVENTS:
        return show_events(d, item, why);
    case GT_EXECLOG_LOST:
        return gt_error_set(why, GT_E_FORMAT,
                            "%.300s offset %" PRIu64 ": %" PRIu64
                            " bytes of events were dropped by the recording",
                            gt_execlog_reader_name(d->r), item->offset, item->chunk.first);
    default:
        return 0;
    }
}

/* ---- the whole log, and parts of it -------------------------------------------------------- */

static int show_all(struct dump *d, struct gt_error *err)
{
    struct gt_execlog_item item;
    struct gt_error why;
    int status;
    while ((status = gt_execlog_next(d->r, &item, &why)) == 1 || status == GT_E_FORMAT) {
        if (status == 1)
            status = show_item(d, &item, &why);
        if (status == 1)
            return 0;
        if (status == GT_E_FORMAT)
            leave_out(d, &why);
        else if (status < 0)
            break;
    }
    if (status < 0)
        return gt_error_set(err, status, "%s", why.text);
    if (!gt_execlog_whole(d->r))
        return gt_error_set(err, GT_E_TRUNC, "%s: has no end: its recording was interrupted",
                            gt_execlog_reader_name(d->r));
    return 0;
}

static int show_chunk(struct dump *d, uint64_t offset, struct gt_error *why)
{
    struct gt_execlog_item item;
    int status = gt_execlog_go(d->r, offset, false) ? gt_execlog_next(d->r, &item, why) : GT_E_IO;
    if (status == 1 && item.chunk.type == GT_EXECLOG_EVENTS)
        return show_events(d, &item, why);
    if (status < 0)
        return status;
    return gt_error_set(why, GT_E_FORMAT, "%.300s offset %" PRIu64 ": the index has no chunk here",
                        gt_execlog_reader_name(d->r), offset);
}

static int show_selected(struct dump *d, uint64_t size, const struct gt_execlog_query *q,
                         struct gt_error *err)
{
    struct gt_error why = {0};
    int status = gt_execlog_select(d->r, size, q, &d->selection, &why, err);
    if (status < 0)
        return status;
    if (d->selection.damaged)
        leave_out(d, &why);
    for (size_t i = 0; i < d->selection.n_events && status == 0; i++) {
        status = show_chunk(d, d->selection.events[i].offset, &why);
        if (status == GT_E_FORMAT || status == GT_E_TRUNC) {
            leave_out(d, &why);
            status = 0;
        }
    }
    if (status < 0)
        return gt_error_set(err, status, "%s", why.text);
    if (!d->selection.whole && !d->left_out)
        return gt_error_set(err, GT_E_TRUNC, "%s: has no end: its recording was interrupted",
                            gt_execlog_reader_name(d->r));
    return 0;
}

static int show(struct dump *d, uint64_t size, const struct gt_execlog_text_options *o,
                struct gt_error *err)
{
    const struct gt_execlog_query *q = &o->query;
    bool some = q->from > 1 || q->to < UINT64_MAX || q->by_insn || q->by_access;
    int status = some && size ? show_selected(d, size, q, err) : show_all(d, err);
    gt_execlog_text_flush(d->text);
    if (status == 0 && some && !d->any)
        gt_error_notice(d->notices, "%s: no line matches the query", gt_execlog_reader_name(d->r));
    if (status == 0 && d->left_out)
        status = gt_error_set(err, GT_E_FORMAT, "%s: places left out: %" PRIu64,
                              gt_execlog_reader_name(d->r), d->left_out);
    return status;
}

/* Where the guest's addresses have 32 bits, some that can be asked for are none of its code. */
static int check_addresses(const struct dump *d, const struct gt_execlog_query *q,
                           struct gt_error *err)
{
    static const char *const narrow[] = {"arm",  "armeb",  "i386", "riscv32",
                                         "mips", "mipsel", "ppc"};
    const char *target = gt_execlog_reader_about(d->r)->target;
    for (size_t i = 0; i < G_N_ELEMENTS(narrow) && q->by_insn; i++)
        if (strcmp(target, narrow[i]) == 0 && q->insn_lo > UINT32_MAX)
            return gt_error_set(
                err, GT_E_USAGE,
                "%s: of a guest of target %s, whose addresses have 32 bits: --pc 0x%" PRIx64
                " is too large",
                gt_execlog_reader_name(d->r), target, q->insn_lo);
    return 0;
}

int gt_execlog_dump(const struct gt_error_notices *notices, struct gt_recording_input *in,
                    const struct gt_execlog_query *q, bool values, struct gt_output *out,
                    struct gt_error *err)
{
    struct dump d = {.notices = notices, .out = out};
    struct gt_execlog_source source = gt_execlog_input_source(in);
    const struct gt_execlog_text_options o = {*q, values, put_lines, learn, &d};
    int status = gt_execlog_reader_create(&source, &d.r, err);
    if (status == 0)
        status = check_addresses(&d, q, err);
    if (status == 0)
        status = gt_execlog_text_create(gt_execlog_reader_codes(d.r), &o, &d.text, err);
    if (status == 0) {
        in->idle = give;
        in->idle_self = &d;
        status = show(&d, gt_execlog_input_size(in), &o, err);
        in->idle = NULL;
    }
    gt_execlog_selection_free(&d.selection);
    gt_execlog_text_destroy(d.text);
    gt_execlog_reader_destroy(d.r);
    return status;
}

static bool seek(void *self, uint64_t offset)
{
    struct gt_recording_input *in = self;
    if (!gt_execlog_input_size(in) || lseek(in->fd, (off_t)offset, SEEK_SET) < 0)
        return false;
    in->at = in->n;
    return true;
}

struct gt_execlog_source gt_execlog_input_source(struct gt_recording_input *in)
{
    return (struct gt_execlog_source){in->name, gt_recording_input_read, seek, in};
}

uint64_t gt_execlog_input_size(const struct gt_recording_input *in)
{
    struct stat st;
    return fstat(in->fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 ? (uint64_t)st.st_size
                                                                            : 0;
}
