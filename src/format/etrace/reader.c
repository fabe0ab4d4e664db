/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packets of an etrace stream in order: see etrace.h.
 *
 * The buffer holds a window of the stream, large enough for the largest packet; a packet is
 * returned as soon as it is complete, so that a stream can be read while it is written.
 */
#include "format/etrace/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum {
    CHUNK = 256 << 10,
    CAPACITY = GT_ETRACE_HEADER + GT_ETRACE_MAX_BODY + CHUNK,
};

int gt_etrace_reader_create(gt_etrace_read_fn read, void *self, const char *name,
                            struct gt_etrace_reader **out, struct gt_error *err)
{
    struct gt_etrace_reader *r = calloc(1, sizeof *r);
    if (r) {
        r->read = read;
        r->self = self;
        r->name = strdup(name);
        r->buf = malloc(CAPACITY);
        r->arch.guest.bits = 64;
        r->arch.host.bits = 64;
    }
    if (!r || !r->name || !r->buf) {
        gt_etrace_reader_destroy(r);
        return gt_error_set(err, GT_E_NOMEM, "%.300s: out of memory", name);
    }
    *out = r;
    return 0;
}

void gt_etrace_reader_destroy(struct gt_etrace_reader *r)
{
    if (!r)
        return;
    free(r->buf);
    free(r->name);
    free(r);
}

const struct gt_etrace_arch *gt_etrace_reader_arch(const struct gt_etrace_reader *r)
{
    return &r->arch;
}

/* Reads on until n bytes are in the window: 1; fewer at the end: 0. */
static int want(struct gt_etrace_reader *r, size_t n)
{
    while (r->end - r->pos < n && !r->ended) {
        if (r->end - r->pos <= CHUNK / 4 || CAPACITY - r->pos < n) {
            memmove(r->buf, r->buf + r->pos, r->end - r->pos);
            r->end -= r->pos;
            r->pos = 0;
        }
        size_t room = CAPACITY - r->end;
        ssize_t got = r->read(r->self, r->buf + r->end, room < CHUNK ? room : CHUNK);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return gt_error_errno(&r->why, errno, "%.300s offset %" PRIu64 ": cannot be read",
                                  r->name, r->offset + (r->end - r->pos));
        r->ended = got == 0;
        r->end += (size_t)got;
    }
    return r->end - r->pos >= n;
}

static int cut_off(struct gt_etrace_reader *r, size_t whole)
{
    return gt_error_set(&r->why, GT_E_TRUNC,
                        "%.300s offset %" PRIu64 ": truncated: the stream ends after %zu of the"
                        " packet's %zu bytes",
                        r->name, r->offset, r->end - r->pos, whole);
}

static int read_header(struct gt_etrace_reader *r, struct gt_etrace_packet *out)
{
    int status = want(r, GT_ETRACE_HEADER);
    if (status < 0 || r->end == r->pos)
        return status;
    if (status == 0)
        return cut_off(r, GT_ETRACE_HEADER);
    const uint8_t *h = r->buf + r->pos;
    *out = (struct gt_etrace_packet){r->offset, gt_le16(h), gt_le16(h + 2), gt_le32(h + 4), NULL};
    if (!r->begun && out->type != GT_ETRACE_INFO)
        return gt_error_set(&r->why, GT_E_FORMAT,
                            "%.300s: not an etrace stream: it begins with a packet of type 0x%x,"
                            " expected INFO, 0x%x",
                            r->name, out->type, GT_ETRACE_INFO);
    if (out->len > GT_ETRACE_MAX_BODY)
        return gt_error_set(&r->why, GT_E_FORMAT,
                            "%.300s offset %" PRIu64 ": packet of type 0x%x has %" PRIu32
                            " bytes, expected at most %d",
                            r->name, r->offset, out->type, out->len, GT_ETRACE_MAX_BODY);
    return 1;
}

static int next(struct gt_etrace_reader *r, struct gt_etrace_packet *out)
{
    int status = read_header(r, out);
    if (status <= 0)
        return status;
    size_t whole = GT_ETRACE_HEADER + (size_t)out->len;
    status = want(r, whole);
    if (status < 0)
        return status;
    if (status == 0)
        return cut_off(r, whole);
    out->body = r->buf + r->pos + GT_ETRACE_HEADER;
    r->pos += whole;
    r->offset += whole;
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
