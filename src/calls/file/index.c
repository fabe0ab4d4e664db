/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading indexes: see index.h. What one says is checked against the file's size, and each head
 * when its block is read. */
#include "calls/file/index.h"

#include "base/array.h"
#include "base/bytes.h"
#include "calls/file/column.h"
#include "calls/file/model.h"
#include "calls/file/parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    TAIL = 128 << 10, /* bytes in which the last index's end is looked for */
};
_Static_assert((int)GT_INDEX_FIELDS <= (int)GT_COLUMNS, "they are read as a block's columns");

/* ---- entries ------------------------------------------------------------------------------- */

static void take_entry(struct gt_compact_column_in *c, uint8_t type, uint64_t size,
                       const struct gt_compact_head *last, struct gt_compact_head *h)
{
    *h = (struct gt_compact_head){
        .type = type,
        .size = (uint32_t)size,
        .flags = (uint8_t)gt_compact_column_take(&c[GT_INDEX_FLAGS]),
        .packer = last->packer +
                  (uint32_t)gt_compact_unzigzag(gt_compact_column_take(&c[GT_INDEX_PACKER])),
        .records = (uint32_t)gt_compact_column_take(&c[GT_INDEX_RECORDS]),
        .first_time = last->last_time +
                      (uint64_t)gt_compact_unzigzag(gt_compact_column_take(&c[GT_INDEX_FIRST])),
    };
    h->last_time = h->first_time + gt_compact_column_take(&c[GT_INDEX_SPAN]);
    h->before = last->before + last->records +
                (uint64_t)gt_compact_unzigzag(gt_compact_column_take(&c[GT_INDEX_BEFORE]));
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Entries of the index at `end`, from `at` on. GT_E_FORMAT: they are not what lies between. */
static int take_entries(struct gt_compact_file *f, struct gt_compact_columns *c, uint64_t n,
                        uint64_t at, uint64_t end)
{
    struct gt_compact_head last = {0};
    bool added = true;
    for (; n > 0 && added; n--) {
        struct gt_compact_block b = {.at = at};
        uint64_t type = gt_compact_column_take(&c->in[GT_INDEX_TYPE]),
                 size = gt_compact_column_take(&c->in[GT_INDEX_SIZE]);
        uint64_t most = end - at - (type ? GT_COMPACT_HEAD : 0);
        if (type > UINT8_MAX || end - at < (type ? GT_COMPACT_HEAD : 1) || size > most ||
            (type ? size > GT_COMPACT_MAX_PAYLOAD : size == 0))
            return GT_E_FORMAT;
        at = end - (most - size);
        if (!type) {
            added = gt_compact_add_gap(f, b.at, size);
            continue;
        }
        take_entry(c->in, (uint8_t)type, size, &last, &b.head);
        last = b.head;
        if (b.head.records > GT_COMPACT_MAX_RECORDS)
            return GT_E_FORMAT;
        added = gt_compact_add_block(f, &b);
    }
    if (!added)
        return GT_E_NOMEM;
    return at == end && gt_compact_columns_are_done(c) ? 0 : GT_E_FORMAT;
}

/* The link and the number of entries. */
static int take_link(struct gt_compact_column_in *in, uint64_t at, uint64_t *link, uint64_t *n)
{
    *link = gt_compact_column_take(in);
    *n = gt_compact_column_take(in);
    /* Gaps and blocks alternate at most, and a block has a head. */
    bool goes_back = *link == 0 || (*link < at && at - *link > GT_COMPACT_HEAD);
    return in->bad || !goes_back || *n > 2 * (at / GT_COMPACT_HEAD) + 1 ? GT_E_FORMAT : 0;
}

/* Adds what the index at `at` has, and itself; its blocks begin where the last one ended. */
static int take_index(struct gt_compact_file *f, uint64_t at, struct gt_compact_columns *c,
                      struct gt_error *err)
{
    struct gt_compact_file one = {.fd = f->fd, .path = f->path};
    struct gt_compact_block self = {.at = at};
    uint8_t head[GT_COMPACT_HEAD];
    const uint8_t *payload = NULL;
    uint64_t link, n;
    int status = gt_compact_pread(f, head, sizeof head, at, err);
    if (status == 0)
        status = gt_compact_head_read(head, sizeof head, &self.head);
    if (status == 0 && (self.head.type != GT_COMPACT_INDEX || self.head.size < GT_INDEX_TRAILER))
        status = GT_E_FORMAT;
    one.block = &self;
    if (status == 0)
        status = gt_compact_file_read(&one, 0, &f->buffer, &payload, err);
    if (status < 0)
        return status;
    const uint8_t *end = payload + self.head.size - GT_INDEX_TRAILER;
    struct gt_compact_column_in in = {payload, end, false};
    if (gt_bytes_le64(end) != at || memcmp(end + 8, GT_INDEX_MAGIC, GT_INDEX_MAGIC_SIZE) != 0)
        return GT_E_FORMAT;
    status = take_link(&in, at, &link, &n);
    if (status == 0)
        status = gt_compact_columns_open(c, GT_INDEX_FIELDS, false, in.at, (size_t)(end - in.at),
                                         (size_t)n * GT_INDEX_FIELDS * GT_NUMBER_MAX);
    if (status == 0)
        status = take_entries(f, c, n, f->whole, at);
    f->whole = at; /* a gap may be the last */
    return status < 0 ? status : gt_compact_add_block(f, &self) ? 0 : GT_E_NOMEM;
}

/* Where indexes are: the last one at `at`, and those before it. */
struct chain {
    uint64_t *at; /* the last first */
    size_t n, room;
};

static int follow(const struct gt_compact_file *f, struct chain *c, uint64_t at,
                  struct gt_error *err)
{
    int status = 0;
    while (at > 0 && status == 0) {
        uint8_t data[GT_INDEX_LINK];
        uint64_t n;
        if (!GT_ARRAY_GROW(&c->at, &c->room, c->n + 1))
            return GT_E_NOMEM;
        c->at[c->n++] = at;
        struct gt_compact_column_in in = {data, data + sizeof data, false};
        status = gt_compact_pread(f, data, sizeof data, at + GT_COMPACT_HEAD, err);
        if (status == 0)
            status = take_link(&in, at, &at, &n);
    }
    return status;
}

/* The offset of the last index that the file's end tells of; 0: none. */
static uint64_t find_last(const struct gt_compact_file *f)
{
    uint8_t *tail = malloc(TAIL);
    size_t n = f->size < TAIL ? (size_t)f->size : TAIL;
    uint64_t found = 0;
    if (tail && gt_compact_pread(f, tail, n, f->size - n, NULL) == 0)
        for (size_t i = n; i-- > GT_INDEX_TRAILER && !found;)
            if (tail[i] == '\n' && memcmp(tail + i + 1 - GT_INDEX_MAGIC_SIZE, GT_INDEX_MAGIC,
                                          GT_INDEX_MAGIC_SIZE) == 0)
                found = gt_bytes_le64(tail + i + 1 - GT_INDEX_TRAILER);
    free(tail);
    return found < f->size && f->size - found > GT_COMPACT_HEAD ? found : 0;
}

int gt_compact_index_load(struct gt_compact_file *f, struct gt_error *err)
{
    uint64_t last = find_last(f);
    struct gt_compact_columns c = {.zstd = ZSTD_createDCtx()};
    struct chain chain = {0};
    int status = c.zstd ? follow(f, &chain, last, err) : GT_E_NOMEM;
    for (size_t i = chain.n; i-- > 0 && status == 0;)
        status = take_index(f, chain.at[i], &c, err);
    gt_compact_columns_finish(&c);
    free(chain.at);
    f->index_at = status < 0 ? 0 : last;
    if (status < 0) { /* the heads give the blocks */
        f->n = f->n_gaps = 0;
        f->whole = GT_COMPACT_FILE_HEAD;
    }
    f->index_blocks = f->n;
    f->index_gaps = f->n_gaps;
    if (status == GT_E_NOMEM)
        gt_error_set(err, status, "%s: out of memory", f->path);
    return status == GT_E_NOMEM || status == GT_E_IO ? status : 0;
}
