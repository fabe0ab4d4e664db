/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A log in execlog's binary form, in order and by its index: what is read of it is whole lines. The
 * input is taken as a log, and again, to get past checks and zstd, as what they protect (make_log).
 */
#include "base/bytes.h"
#include "execlog/format/select.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 1 << 17 };

struct bytes {
    const uint8_t *data;
    size_t size, at;
};

static void require(bool good)
{
    if (!good)
        abort();
}

static ssize_t read_some(void *self, void *out, size_t n)
{
    struct bytes *b = self;
    size_t left = b->size - b->at;
    n = n < left ? n : left;
    n = n < 1000 ? n : 1000;
    if (n)
        memcpy(out, b->data + b->at, n);
    b->at += n;
    return (ssize_t)n;
}

static bool seek(void *self, uint64_t offset)
{
    struct bytes *b = self;
    if (offset > b->size)
        return false;
    b->at = offset;
    return true;
}

static volatile unsigned seen;
static uint64_t n_bytes;

/* Some input is a few bytes that stand for many lines. */
static int take_lines(void *self, const char *text, size_t n)
{
    (void)self;
    require(n && text[n - 1] == '\n');
    for (size_t i = 0; i < n; i += 61)
        seen += (unsigned char)text[i];
    n_bytes += n;
    return n_bytes > 4 << 20;
}

static void show(struct gt_execlog_reader *r, struct gt_execlog_text *t,
                 const struct gt_execlog_item *item)
{
    const uint8_t *body;
    if (item->chunk.type == GT_EXECLOG_DEFINITIONS)
        gt_execlog_learn(r, item, NULL);
    else if (item->chunk.type == GT_EXECLOG_EVENTS && gt_execlog_body(r, item, &body, NULL) == 0)
        gt_execlog_text_add(t, &item->chunk, body, NULL);
}

static void read_in_order(struct gt_execlog_reader *r)
{
    const struct gt_execlog_text_options o = {
        .query = gt_execlog_all, .values = true, .lines = take_lines};
    struct gt_execlog_text *t;
    struct gt_execlog_item item;
    int status;
    require(gt_execlog_text_create(gt_execlog_reader_codes(r), &o, &t, NULL) == 0);
    n_bytes = 0;
    while ((status = gt_execlog_next(r, &item, NULL)) == 1 || status == GT_E_FORMAT)
        if (status == 1)
            show(r, t, &item);
        else
            gt_execlog_text_lose(t);
    gt_execlog_text_flush(t);
    gt_execlog_text_destroy(t);
}

struct pick {
    struct gt_execlog_reader *r;
    struct gt_execlog_selection s;
};

static void learn(void *self, uint32_t id)
{
    struct pick *p = self;
    gt_execlog_selection_learn(&p->s, p->r, id);
}

static void read_selected(struct gt_execlog_reader *r, size_t size)
{
    struct gt_execlog_query q = gt_execlog_all;
    q.from = 2;
    q.to = 5000;
    q.by_access = true;
    q.access_lo = 0x1000;
    q.access_hi = 0x1fff;
    struct pick p = {.r = r};
    const struct gt_execlog_text_options o = {q, false, take_lines, learn, &p};
    struct gt_execlog_text *t;
    struct gt_execlog_item item;
    struct gt_error first_damage;
    require(gt_execlog_text_create(gt_execlog_reader_codes(r), &o, &t, NULL) == 0);
    n_bytes = 0;
    if (gt_execlog_select(r, size, &q, &p.s, &first_damage, NULL) == 0)
        for (size_t i = 0; i < p.s.n_events; i++)
            if (gt_execlog_go(r, p.s.events[i].offset, false) &&
                gt_execlog_next(r, &item, NULL) == 1)
                show(r, t, &item);
    gt_execlog_selection_free(&p.s);
    gt_execlog_text_flush(t);
    gt_execlog_text_destroy(t);
}

static void read_log(const uint8_t *data, size_t size)
{
    struct bytes b = {data, size, 0};
    const struct gt_execlog_source source = {"fuzz", read_some, seek, &b};
    struct gt_execlog_reader *r;
    if (gt_execlog_reader_create(&source, &r, NULL) < 0)
        return;
    read_in_order(r);
    if (gt_execlog_go(r, GT_EXECLOG_HEAD, true))
        read_selected(r, size);
    gt_execlog_reader_destroy(r);
}

/* ---- a log of pieces ----------------------------------------------------------------------- */

static uint8_t log_data[MOST];
static size_t log_size;

static void add_chunk(struct gt_execlog_chunk c, const uint8_t *body, size_t n)
{
    uint8_t *head = log_data + log_size, *at = head + GT_EXECLOG_HEAD;
    if (MOST - log_size < GT_EXECLOG_HEAD + ZSTD_compressBound(n))
        return;
    size_t packed = n ? ZSTD_compress(at, ZSTD_compressBound(n), body, n, 1) : 0;
    require(!ZSTD_isError(packed));
    c.packed = (uint32_t)packed;
    c.unpacked = (uint32_t)n;
    gt_execlog_put_chunk(head, &c, NULL);
    log_size += GT_EXECLOG_HEAD + packed;
}

/* Pieces: u8 type, u8 flags, u8 vCPU, u8 first, u16 n, n bytes of body. */
static void make_log(const uint8_t *data, size_t size)
{
    struct gt_bytes_reader r;
    gt_bytes_reader_init(&r, data, size);
    memset(log_data, 0, GT_EXECLOG_HEAD);
    memcpy(log_data, gt_execlog_magic, sizeof gt_execlog_magic);
    log_data[8] = GT_EXECLOG_MAJOR;
    const uint32_t check = gt_execlog_check(0, log_data, GT_EXECLOG_HEAD - 4);
    memcpy(log_data + GT_EXECLOG_HEAD - 4, &check, sizeof check);
    log_size = GT_EXECLOG_HEAD;
    while (r.left) {
        struct gt_execlog_chunk c = {.type = gt_bytes_read_u8(&r)};
        c.flags = gt_bytes_read_u8(&r);
        c.vcpu = gt_bytes_read_u8(&r);
        c.first = gt_bytes_read_u8(&r);
        c.count = 1;
        c.names = 1;
        size_t n = gt_bytes_read_u16(&r);
        n = n < r.left ? n : r.left;
        const uint8_t *body = gt_bytes_read_bytes(&r, n);
        if (r.short_of)
            break;
        add_chunk(c, body, n);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_log(data, size);
    if (size < MOST / 2) {
        make_log(data, size);
        read_log(log_data, log_size);
    }
    return 0;
}
