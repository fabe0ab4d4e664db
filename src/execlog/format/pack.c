/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packs buffers into chunks, on the packet sink's thread: see writer.h. */
#include "base/array.h"
#include "execlog/format/writer.h"

#include <assert.h>
#include <stdlib.h>

enum {
    INSN_GRAIN = 6,
    ACCESS_GRAIN = 6,
    DEFINITIONS = 1 << 20, /* bytes of a chunk, about */
    INDEXED = 256 << 10,   /* bytes that an index has when it is written */
    OPEN = 1,              /* of a vCPU: its waiting line has something in it */
    COMPLETE = 2,          /* its newest line is complete, and may come again */
};

/* ---- chunks -------------------------------------------------------------------------------- */

static void note_in_index(struct gt_execlog_writer *w, uint64_t where, const uint8_t *head,
                          size_t n)
{
    gt_execlog_bytes_number(&w->index, where);
    gt_execlog_bytes_add(&w->index, head, n);
}

/* Appends a chunk; *c says all but the sizes. NULL data: no body. */
static void add_chunk(struct gt_execlog_writer *w, struct gt_execlog_chunk *c,
                      const uint8_t *summary, const uint8_t *data, size_t n)
{
    size_t bound = n ? ZSTD_compressBound(n) : 0, begin = w->out.n;
    uint8_t *head = gt_execlog_bytes_room(&w->out, GT_EXECLOG_HEAD + c->summary + bound);
    if (!head)
        return;
    uint8_t *body = head + GT_EXECLOG_HEAD + c->summary;
    size_t packed = n ? ZSTD_compress2(w->zstd, body, bound, data, n) : 0;
    if (ZSTD_isError(packed)) {
        w->out.failed = true;
        return;
    }
    c->packed = (uint32_t)packed;
    c->unpacked = (uint32_t)n;
    if (summary)
        memcpy(head + GT_EXECLOG_HEAD, summary, c->summary);
    gt_execlog_put_chunk(head, c, summary);
    if (c->type != GT_EXECLOG_INDEX && c->type != GT_EXECLOG_END)
        note_in_index(w, w->offset + begin, head, GT_EXECLOG_HEAD + c->summary);
    w->out.n += GT_EXECLOG_HEAD + c->summary + packed;
}

static void add_index(struct gt_execlog_writer *w)
{
    struct gt_execlog_chunk c = {
        .type = GT_EXECLOG_INDEX,
        .first = w->index_line,
        .count = w->line - w->index_line,
        .other = w->last_index,
    };
    uint64_t where = w->offset + w->out.n;
    if (w->index.n == 0)
        return;
    add_chunk(w, &c, NULL, w->index.data, w->index.n);
    w->last_index = where;
    w->index_line = w->line;
    w->index.n = 0;
}

/* The bytes added, for the packet sink. */
static const uint8_t *give(struct gt_execlog_writer *w, size_t *n)
{
    if (w->out.failed || w->index.failed)
        return NULL;
    w->offset += w->out.n;
    *n = w->out.n;
    w->out.n = 0;
    return w->out.data;
}

/* ---- definitions --------------------------------------------------------------------------- */

static void take_pending(struct gt_execlog_writer *w)
{
    struct gt_execlog_pending empty = w->taken;
    empty.names.n = empty.code.n = empty.n = empty.n_names = 0;
    pthread_mutex_lock(&w->lock);
    w->taken = w->pending;
    w->pending = empty;
    pthread_mutex_unlock(&w->lock);
}

static bool know(struct gt_execlog_writer *w)
{
    void *blocks = w->blocks;
    bool good =
        gt_base_array_grow(&blocks, &w->cap_known, w->n_known + w->taken.n, sizeof *w->blocks);
    w->blocks = blocks;
    if (!good)
        return false;
    if (w->taken.n)
        memcpy(w->blocks + w->n_known, w->taken.blocks, w->taken.n * sizeof *w->blocks);
    w->n_known += w->taken.n;
    return true;
}

/* Blocks from..to - 1 of those taken; the names with the first ones. */
static void add_definitions(struct gt_execlog_writer *w, size_t from, size_t to)
{
    struct gt_execlog_pending *t = &w->taken;
    uint8_t summary[GT_EXECLOG_SET_SIZE];
    size_t begin = from ? t->blocks[from - 1].end : 0;
    size_t end = to ? t->blocks[to - 1].end : 0;
    struct gt_execlog_chunk c = {
        .type = GT_EXECLOG_DEFINITIONS,
        .first = to > from ? t->blocks[from].block.id : w->n_known + 1,
        .count = to - from,
        .names = from ? 0 : t->n_names,
        .insn = to > from ? t->blocks[from].block.first : 0,
    };
    gt_execlog_set_clear(&w->insns, INSN_GRAIN);
    for (size_t i = from; i < to; i++)
        gt_execlog_set_add_range(&w->insns, t->blocks[i].lo, t->blocks[i].hi);
    c.summary = (uint32_t)gt_execlog_set_put(&w->insns, summary);
    if (from == 0 && t->names.n) {
        gt_execlog_bytes_add(&t->names, t->code.data + begin, end - begin);
        add_chunk(w, &c, summary, t->names.data, t->names.n);
        w->out.failed |= t->names.failed;
    } else {
        add_chunk(w, &c, summary, t->code.data + begin, end - begin);
    }
}

static void put_definitions(struct gt_execlog_writer *w)
{
    const struct gt_execlog_pending *t = &w->taken;
    size_t from = 0, begin = 0;
    take_pending(w);
    w->out.failed |= !know(w) || t->names.failed;
    for (size_t i = 0; i < t->n; i++) {
        if (t->blocks[i].end - begin < DEFINITIONS && i + 1 < t->n)
            continue;
        begin = t->blocks[i].end;
        add_definitions(w, from, i + 1);
        from = i + 1;
    }
    if (t->n == 0 && t->n_names)
        add_definitions(w, 0, 0);
}

/* ---- events -------------------------------------------------------------------------------- */

static const struct gt_execlog_block *find(void *self, uint32_t id)
{
    const struct gt_execlog_writer *w = self;
    return id && id <= w->n_known ? &w->blocks[id - 1].block : NULL;
}

static void see(struct gt_execlog_writer *w, const struct gt_execlog_block *b)
{
    struct gt_execlog_known *k = &w->blocks[b->id - 1];
    if (k->seen == w->n_buffers)
        return;
    k->seen = w->n_buffers;
    gt_execlog_set_add_range(&w->insns, k->lo, k->hi);
}

static void on_start(void *self, const struct gt_execlog_block *b, uint32_t from, uint32_t to)
{
    struct gt_execlog_writer *w = self;
    see(w, b);
    w->lines += to - from - !w->open;
    w->open = true;
    w->complete = false;
}

static void on_resume(void *self, const struct gt_execlog_block *b, uint32_t i)
{
    (void)i;
    see(self, b);
}

static void on_line(void *self, bool last)
{
    struct gt_execlog_writer *w = self;
    w->lines += w->open || last;
    w->open = w->complete = false;
}

static void on_complete(void *self)
{
    struct gt_execlog_writer *w = self;
    w->complete |= w->open;
    w->lines += w->open;
    w->open = false;
}

static bool on_access(void *self, bool store, uint64_t address, uint32_t device)
{
    struct gt_execlog_writer *w = self;
    (void)store, (void)device;
    gt_execlog_set_add(&w->accesses, address);
    w->open = true;
    return true;
}

static bool on_change(void *self, const struct gt_execlog_change *c)
{
    (void)c;
    ((struct gt_execlog_writer *)self)->open = true;
    return true;
}

static void on_value(void *self, const uint64_t value[2], bool wide)
{
    (void)self, (void)value, (void)wide;
}

static const struct gt_execlog_visitor visitor = {
    .find = find,
    .start = on_start,
    .resume = on_resume,
    .line = on_line,
    .complete = on_complete,
    .access = on_access,
    .change = on_change,
    .value = on_value,
};

static void add_events(struct gt_execlog_writer *w, const struct gt_packet_buffer *b)
{
    const uint8_t *events = b->data + GT_EXECLOG_PREFIX;
    size_t n = b->used - GT_EXECLOG_PREFIX;
    uint8_t summary[2 * GT_EXECLOG_SET_SIZE];
    uint32_t vcpu = gt_bytes_le32(b->data) % GT_EXECLOG_MAX_VCPUS,
             skip = gt_bytes_le32(b->data + 4);
    struct gt_execlog_chunk c = {
        .type = GT_EXECLOG_EVENTS, .vcpu = vcpu, .first = w->line, .other = skip};
    assert(b->size - b->used >= GT_EXECLOG_PADDING);
    w->n_buffers++;
    w->lines = 0;
    w->open = w->waiting[vcpu] & OPEN;
    w->complete = w->waiting[vcpu] & COMPLETE;
    c.flags = w->waiting[vcpu] ? GT_EXECLOG_FROM_BEFORE : 0;
    c.flags |= w->open ? GT_EXECLOG_WITHIN_LINE : 0;
    gt_execlog_set_clear(&w->insns, INSN_GRAIN);
    gt_execlog_set_clear(&w->accesses, ACCESS_GRAIN);
    size_t good = gt_execlog_walk(&w->walk, &visitor, w, events, n);
    assert(good == n); /* a stream made it */
    w->waiting[vcpu] = (w->open ? OPEN : 0) | (w->complete ? COMPLETE : 0);
    c.flags |= w->waiting[vcpu] ? GT_EXECLOG_GOES_ON : 0;
    c.count = w->lines > skip ? w->lines - skip : 0;
    c.summary = (uint32_t)gt_execlog_set_put(&w->insns, summary);
    c.summary += (uint32_t)gt_execlog_set_put(&w->accesses, summary + c.summary);
    add_chunk(w, &c, summary, events, n);
    w->line += c.count;
}

/* ---- what the packet sink calls -----------------------------------------------------------------
 */

size_t gt_execlog_head(void *writer, uint8_t *out)
{
    struct gt_execlog_writer *w = writer;
    memset(out, 0, GT_EXECLOG_HEAD);
    memcpy(out, gt_execlog_magic, sizeof gt_execlog_magic);
    gt_bytes_put16(gt_bytes_put16(out + 8, GT_EXECLOG_MAJOR), GT_EXECLOG_MINOR);
    gt_bytes_put32(out + 12, w->flags);
    memcpy(out + 16, w->target, sizeof w->target);
    gt_bytes_put32(out + GT_EXECLOG_HEAD - 4, gt_execlog_check(0, out, GT_EXECLOG_HEAD - 4));
    w->offset += GT_EXECLOG_HEAD;
    return GT_EXECLOG_HEAD;
}

size_t gt_execlog_mark(void *writer, uint64_t bytes, uint8_t *out)
{
    struct gt_execlog_writer *w = writer;
    const struct gt_execlog_chunk c = {.type = GT_EXECLOG_LOST, .first = bytes};
    gt_execlog_put_chunk(out, &c, NULL);
    note_in_index(w, w->offset, out, GT_EXECLOG_HEAD);
    w->offset += GT_EXECLOG_HEAD;
    return GT_EXECLOG_HEAD;
}

const uint8_t *gt_execlog_pack(void *writer, const struct gt_packet_buffer *b, size_t *n)
{
    struct gt_execlog_writer *w = writer;
    put_definitions(w);
    if (w->out.failed)
        return NULL;
    add_events(w, b);
    if (w->index.n >= INDEXED)
        add_index(w);
    return give(w, n);
}

static void add_end(struct gt_execlog_writer *w)
{
    add_index(w);
    struct gt_execlog_chunk c = {
        .type = GT_EXECLOG_END, .first = w->last_index, .count = w->line - 1};
    add_chunk(w, &c, NULL, NULL, 0);
}

const uint8_t *gt_execlog_tail(void *writer, size_t *n)
{
    struct gt_execlog_writer *w = writer;
    add_end(w);
    return give(w, n);
}

const uint8_t *gt_execlog_exec_tail(void *writer, size_t *n)
{
    struct gt_execlog_writer *w = writer;
    const uint64_t last_index = w->last_index, index_line = w->index_line, offset = w->offset;
    const size_t index = w->index.n;
    add_end(w);
    const uint8_t *bytes = give(w, n);
    w->last_index = last_index;
    w->index_line = index_line;
    w->offset = offset;
    w->index.n = index; /* its bytes are still there */
    return bytes;
}
