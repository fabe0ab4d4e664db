/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packets of an etrace stream in order: see etrace.h.
 *
 * A packet is returned as soon as it is complete, so that a stream can be read while it is written.
 */
#include "etrace/format/internal.h"

#include <inttypes.h>
#include <stdlib.h>

enum { AHEAD = 256 << 10 }; /* bytes read at once */

int gt_etrace_reader_create(gt_refill_fn read, void *self, const char *name,
                            struct gt_etrace_reader **out, struct gt_error *err)
{
    struct gt_etrace_reader *r = calloc(1, sizeof *r);
    if (!r)
        return gt_error_set(err, GT_E_NOMEM, "%.300s: out of memory", name);
    r->arch.guest.bits = 64;
    r->arch.host.bits = 64;
    int status = gt_refill_init(&r->in, read, self, name, AHEAD, err);
    if (status < 0)
        gt_etrace_reader_destroy(r);
    else
        *out = r;
    return status;
}

void gt_etrace_reader_destroy(struct gt_etrace_reader *r)
{
    if (!r)
        return;
    gt_refill_free(&r->in);
    free(r);
}

const struct gt_etrace_arch *gt_etrace_reader_arch(const struct gt_etrace_reader *r)
{
    return &r->arch;
}

static int cut_off(struct gt_etrace_reader *r, size_t whole)
{
    return gt_error_set(&r->why, GT_E_TRUNC,
                        "%.300s offset %" PRIu64 ": truncated: the stream ends after %zu of the"
                        " packet's %zu bytes",
                        r->in.name, r->in.offset, gt_refill_left(&r->in), whole);
}

static int read_header(struct gt_etrace_reader *r, struct gt_etrace_packet *out)
{
    int status = gt_refill_need(&r->in, GT_ETRACE_HEADER, &r->why);
    if (status < 0 || gt_refill_left(&r->in) == 0)
        return status;
    if (status == 0)
        return cut_off(r, GT_ETRACE_HEADER);
    const uint8_t *h = gt_refill_at(&r->in);
    *out =
        (struct gt_etrace_packet){r->in.offset, gt_le16(h), gt_le16(h + 2), gt_le32(h + 4), NULL};
    if (!r->begun && out->type != GT_ETRACE_INFO)
        return gt_error_set(&r->why, GT_E_FORMAT,
                            "%.300s: not an etrace stream: it begins with a packet of type 0x%x,"
                            " expected INFO, 0x%x",
                            r->in.name, out->type, GT_ETRACE_INFO);
    if (out->len > GT_ETRACE_MAX_BODY)
        return gt_error_set(&r->why, GT_E_FORMAT,
                            "%.300s offset %" PRIu64 ": packet of type 0x%x has %" PRIu32
                            " bytes, expected at most %d",
                            r->in.name, r->in.offset, out->type, out->len, GT_ETRACE_MAX_BODY);
    return 1;
}

static int next(struct gt_etrace_reader *r, struct gt_etrace_packet *out)
{
    int status = read_header(r, out);
    if (status <= 0)
        return status;
    size_t whole = GT_ETRACE_HEADER + (size_t)out->len;
    status = gt_refill_need(&r->in, whole, &r->why);
    if (status < 0)
        return status;
    if (status == 0)
        return cut_off(r, whole);
    out->body = gt_refill_at(&r->in) + GT_ETRACE_HEADER;
    gt_refill_take(&r->in, whole);
    r->begun = true;
    struct gt_etrace_arch arch;
    if (out->type == GT_ETRACE_ARCH && gt_etrace_arch_read(out, &arch))
        r->arch = arch;
    return 1;
}

int gt_etrace_next(struct gt_etrace_reader *r, struct gt_etrace_packet *out, struct gt_error *err)
{
    int status = r->why.status ? r->why.status : next(r, out);
    if (status < 0 && err)
        *err = r->why;
    return status;
}
