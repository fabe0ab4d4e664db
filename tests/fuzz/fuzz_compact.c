/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packed records. The input is taken as a block, whose checksums need not fit; and as records,
 * which come back as they were.
 */
#include "base/bytes.h"
#include "calls/file/compact.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TASKS = 3, MOST = 4096, ENOUGH = 1 << 20 };

static void require(bool good)
{
    if (!good)
        abort();
}

static volatile uint64_t seen;

/* A few bytes may stand for millions of records. */
static int look(void *self, const struct gt_compact_piece *p)
{
    uint64_t *n = self;
    for (size_t i = 0; i < p->n; i += 97)
        seen += p->event[i].time;
    *n += p->n;
    return *n > ENOUGH ? GT_E_RANGE : 0;
}

static void take_block(const uint8_t *data, size_t size)
{
    struct gt_compact_head h;
    struct gt_compact_unpacker *u;
    struct gt_error err;
    uint64_t n = 0;
    if (size < GT_COMPACT_HEAD)
        return;
    seen += gt_compact_head_fits(data, data + GT_COMPACT_HEAD, size - GT_COMPACT_HEAD);
    h = (struct gt_compact_head){.type = GT_COMPACT_RECORDS,
                                 .flags = data[5] | GT_COMPACT_SEGMENT,
                                 .size = (uint32_t)(size - GT_COMPACT_HEAD),
                                 .records = gt_bytes_le32(data + 20)};
    require(gt_compact_unpacker_create(&u) == 0);
    for (int again = 0; again < 2; again++) {
        gt_compact_unpacker_block(u, &h, data + GT_COMPACT_HEAD, look, &n, &err);
        h.flags &= (uint8_t)~GT_COMPACT_SEGMENT;
    }
    gt_compact_unpacker_destroy(u);
}

struct back {
    const struct gt_compact_record *r;
    size_t at, n;
    struct gt_compact_unpacker *u;
};

static int compare(void *self, const struct gt_compact_piece *p)
{
    struct back *b = self;
    for (size_t i = 0; i < p->n; i++, b->at++) {
        struct gt_compact_record r = gt_compact_unpacker_record(b->u, &p->event[i]);
        require(b->at < b->n && p->task == b->r[b->at].word % TASKS);
        require(r.time == b->r[b->at].time && r.word == b->r[b->at].word);
    }
    return 0;
}

static void round_trip(const struct gt_compact_record *r, size_t n, bool exact)
{
    const struct gt_compact_packer_options o = {.exact = exact, .segment = 100};
    struct back b = {r, 0, n, NULL};
    struct gt_compact_packer *p;
    struct gt_compact_head h;
    const uint8_t *block;
    size_t size;
    require(gt_compact_packer_create(&o, &p) == 0 && gt_compact_unpacker_create(&b.u) == 0);
    for (size_t i = 0; i < n; i++) {
        require(gt_compact_packer_put(p, (uint32_t)(r[i].word % TASKS), &r[i], 1) == 0);
        if (i % 37 && i + 1 < n)
            continue;
        if (r[i].time % 5 == 0) /* the clock may change */
            gt_compact_packer_set_exact(p, r[i].time % 2);
        require(gt_compact_packer_end_block(p, &block, &size) == 0);
        require(gt_compact_head_read(block, size, &h) == 0);
        require(gt_compact_unpacker_block(b.u, &h, block + GT_COMPACT_HEAD, compare, &b, NULL) ==
                0);
    }
    require(b.at == n);
    gt_compact_packer_destroy(p);
    gt_compact_unpacker_destroy(b.u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct gt_compact_record r[MOST];
    struct gt_bytes_reader in;
    size_t n = 0;
    take_block(data, size);
    gt_bytes_reader_init(&in, data, size);
    for (; n < MOST && in.left >= 16; n++) {
        r[n].time = gt_bytes_read_u64(&in);
        r[n].word = gt_bytes_read_u64(&in);
    }
    round_trip(r, n, false);
    round_trip(r, n, true);
    return 0;
}
