/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads an etrace stream for a command: see walk.h. */
#include "etrace/dump/walk.h"
#include "recording/file_kind.h"

#include <inttypes.h>

enum { TOLD_MAX = 5 }; /* packets that were left out */

struct walk {
    const struct gt_etrace_walk *w;
    struct gt_recording_input *in;
    uint64_t packets, left_out;
    bool reported_chained;
};

static void pause_now(void *self)
{
    struct walk *k = self;
    if (k->w->pause)
        k->w->pause(k->w->user);
}

static int look_at_info(struct walk *k, const struct gt_etrace_reader *r,
                        const struct gt_etrace_packet *p, struct gt_error *err)
{
    struct gt_etrace_info info;
    int status = gt_etrace_get_info(r, p, &info, err);
    if (status == 0 && info.attr & 1 && !k->reported_chained) {
        k->reported_chained = true;
        gt_error_notice(k->w->notices,
                        "%s: QEMU chained blocks: not every executed block is listed", k->in->name);
    }
    return status;
}

static int look_at(struct walk *k, const struct gt_etrace_reader *r,
                   const struct gt_etrace_packet *p, struct gt_error *err)
{
    int status = 0;
    switch (p->type) {
    case GT_ETRACE_INFO:
        status = look_at_info(k, r, p, err);
        break;
    case GT_ETRACE_EXEC:
    case GT_ETRACE_TB:
    case GT_ETRACE_NOTE:
    case GT_ETRACE_MEM:
    case GT_ETRACE_ARCH:
    case GT_ETRACE_BARRIER:
    case GT_ETRACE_EVENT_OLD:
    case GT_ETRACE_EVENT:
        break;
    default:
        return gt_error_set(err, GT_E_UNSUPPORTED,
                            "%s offset %" PRIu64 ": packet of unknown type 0x%x and %" PRIu32
                            " bytes",
                            k->in->name, p->offset, p->type, p->len);
    }
    return status < 0 ? status : k->w->packet(k->w->user, r, p, err);
}

static void leave_out(struct walk *k, const struct gt_error *why)
{
    if (k->w->message)
        k->w->message(k->w->user);
    if (k->left_out++ < TOLD_MAX)
        gt_error_notice(k->w->notices, "%s: left out", why->text);
}

static int walk_on(struct walk *k, struct gt_etrace_reader *r, struct gt_error *err)
{
    struct gt_etrace_packet p;
    struct gt_error why;
    int status, seen = 0;
    while (seen != 1 && (status = gt_etrace_next(r, &p, err)) == 1) {
        k->packets++;
        seen = look_at(k, r, &p, &why);
        if (seen < 0)
            leave_out(k, &why);
    }
    if (status < 0)
        return status;
    if (!k->packets)
        return gt_error_set(err, GT_E_FORMAT, "%s: empty, expected an etrace stream", k->in->name);
    if (k->left_out)
        return gt_error_set(err, GT_E_FORMAT, "%s: packets left out: %" PRIu64, k->in->name,
                            k->left_out);
    return 0;
}

int gt_etrace_walk_in(const struct gt_etrace_walk *w, struct gt_recording_input *in,
                      struct gt_error *err)
{
    struct walk k = {.w = w, .in = in};
    struct gt_etrace_reader *r;
    int looked = gt_recording_input_look(in, err);
    if (looked == 0)
        looked = gt_recording_input_check(in, GT_FILE_IS(GT_FILE_ETRACE), "an etrace stream", err);
    if (looked < 0)
        return looked;
    in->idle = pause_now;
    in->idle_self = &k;
    int status = gt_etrace_reader_create(gt_recording_input_read, in, in->name, &r, err);
    if (status == 0) {
        status = walk_on(&k, r, err);
        if (status == GT_E_TRUNC && gt_recording_input_was_ended(in))
            status = 0;
        gt_etrace_reader_destroy(r);
    }
    return status;
}

int gt_etrace_walk(const struct gt_etrace_walk *w, struct gt_error *err)
{
    struct gt_recording_input in;
    int status = gt_recording_input_start(w->notices, w->where, &in, err);
    if (status == 0)
        status = gt_etrace_walk_in(w, &in, err);
    gt_recording_input_close(&in);
    return status;
}
