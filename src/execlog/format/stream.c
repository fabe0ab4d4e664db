/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of a vCPU's events that are not inline: see execlog.h. A buffer begins with u32
 * vCPU, u32 lines to skip (chunk.h). */
#include "execlog/format/chunk.h"

static void take_buffer(struct gt_execlog_stream *s, struct gt_packet_buffer *b)
{
    s->buffer = b;
    gt_bytes_put32(gt_bytes_put32(b->data, s->vcpu), 0);
    s->fresh = s->at = b->data + GT_EXECLOG_PREFIX;
    s->end = b->data + b->size - GT_EXECLOG_EVENT;
    s->device = 0;
    memset(s->addresses, 0, sizeof s->addresses);
    memset(s->values, 0, sizeof s->values);
    memset(s->registers, 0, sizeof s->registers);
}

static void swap(struct gt_execlog_stream *s)
{
    s->buffer->used = (size_t)(s->at - s->buffer->data);
    take_buffer(s, s->swap(s->self, s->buffer));
}

void gt_execlog_begin(struct gt_execlog_stream *s, unsigned vcpu, struct gt_packet_buffer *b,
                      gt_execlog_swap_fn swap_fn, void *self)
{
    s->vcpu = vcpu;
    s->swap = swap_fn;
    s->self = self;
    s->under = (struct gt_execlog_block){0};
    s->index = s->encoded = UINT32_MAX;
    s->stopped = true;
    s->by_insn = false;
    take_buffer(s, b);
}

void gt_execlog_next_block(struct gt_execlog_stream *s)
{
    *s->at++ = GT_EXECLOG_LINE;
    swap(s);
}

/* The rest of the block under way may still start in the next buffer. */
void gt_execlog_next_buffer(struct gt_execlog_stream *s)
{
    if (s->index != s->encoded) {
        *s->at++ = GT_EXECLOG_STOP;
        s->at = gt_execlog_put_number(s->at, s->index + 1);
        s->encoded = s->index;
    }
    swap(s);
    *s->at++ = GT_EXECLOG_RESUME;
    s->at = gt_execlog_put_number(s->at, s->under.id);
    s->at = gt_execlog_put_number(s->at, s->under.id ? s->index : 0);
    if (s->stopped && s->under.id) {
        *s->at++ = GT_EXECLOG_STOP;
        s->at = gt_execlog_put_number(s->at, s->index + 1);
    }
    s->fresh = s->at;
}

void gt_execlog_cut(struct gt_execlog_stream *s)
{
    if (s->at != s->fresh || s->index != s->encoded)
        gt_execlog_next_buffer(s);
}

void gt_execlog_complete(struct gt_execlog_stream *s)
{
    if (s->at > s->end)
        gt_execlog_next_buffer(s);
    *s->at++ = GT_EXECLOG_COMPLETE;
    s->at = gt_execlog_put_number(s->at, s->index - s->encoded);
    s->encoded = s->index;
}

struct gt_packet_buffer *gt_execlog_end(struct gt_execlog_stream *s, bool repeats)
{
    if (s->by_insn)
        gt_execlog_stop(s, s->index + 1);
    struct gt_packet_buffer *b = s->buffer;
    *s->at++ = repeats ? GT_EXECLOG_LAST : GT_EXECLOG_LINE;
    b->used = (size_t)(s->at - b->data);
    s->buffer = NULL;
    return b;
}

void gt_execlog_start_within(struct gt_execlog_stream *s, const struct gt_execlog_block *b,
                             uint32_t i)
{
    if (s->end - s->at < GT_EXECLOG_SPARE)
        gt_execlog_next_block(s);
    s->under = *b;
    s->index = s->encoded = i;
    s->stopped = false;
    *s->at++ = GT_EXECLOG_WITHIN;
    s->at = gt_execlog_put_number(s->at, b->id);
    s->at = gt_execlog_put_number(s->at, i);
}

void gt_execlog_register(struct gt_execlog_stream *s, uint32_t i, uint32_t reg,
                         const uint8_t *value, size_t size)
{
    if (reg >= GT_EXECLOG_MAX_REGISTERS || !size || size > GT_EXECLOG_MAX_VALUE)
        return;
    if (s->at > s->end || (size > 8 && s->end - s->at < (ptrdiff_t)size))
        gt_execlog_next_buffer(s);
    gt_execlog_reach(s, i);
    uint32_t steps = s->index - s->encoded;
    uint8_t *p = s->at;
    *p++ = (uint8_t)(GT_EXECLOG_REGISTER | (reg < 31 ? reg : 31));
    if (reg >= 31)
        p = gt_execlog_put_number(p, reg - 31);
    uint8_t *form = p++;
    if (steps >= 15)
        p = gt_execlog_put_number(p, steps - 15);
    unsigned code = 15;
    if (size <= 8) {
        uint64_t now = 0;
        memcpy(&now, value, size);
        now = le64toh(now);
        uint64_t v = gt_execlog_fold(now - s->registers[reg]);
        s->registers[reg] = now;
        code = gt_execlog_bytes(v);
        gt_execlog_store64(p, v);
        p += code;
    } else {
        p = gt_execlog_put_number(p, size);
        memcpy(p, value, size);
        p += size;
    }
    *form = (uint8_t)((steps < 15 ? steps : 15) << 4 | code);
    s->at = p;
    s->encoded = s->index;
}

/* Headers of chunks, both directions: see chunk.h. */

enum { CHECK_AT = GT_EXECLOG_HEAD - 4 };

const char gt_execlog_magic[8] = "GTEXECL\n";

uint32_t gt_execlog_check(uint32_t before, const void *data, size_t n)
{
    const uint8_t *p = data;
    uint32_t h = before ? before : 0x811c9dc5;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x01000193;
    return h;
}

static uint32_t check_of(const uint8_t *head, const uint8_t *summary, size_t n)
{
    return gt_execlog_check(gt_execlog_check(0, head, CHECK_AT), summary, n);
}

void gt_execlog_put_chunk(uint8_t *out, const struct gt_execlog_chunk *c, const uint8_t *summary)
{
    uint8_t *p = gt_bytes_put32(out, GT_EXECLOG_CHUNK);
    *p++ = c->type;
    *p++ = c->flags;
    p = gt_bytes_put16(p, 0);
    p = gt_bytes_put32(gt_bytes_put32(p, c->summary), c->packed);
    p = gt_bytes_put32(gt_bytes_put32(p, c->unpacked), c->vcpu);
    p = gt_bytes_put64(gt_bytes_put64(gt_bytes_put64(p, c->first), c->count), c->other);
    p = gt_bytes_put32(gt_bytes_put32(gt_bytes_put32(p, c->names), c->insn), 0);
    gt_bytes_put32(p, check_of(out, summary, c->summary));
}

bool gt_execlog_get_chunk(const uint8_t *in, struct gt_execlog_chunk *out)
{
    *out = (struct gt_execlog_chunk){
        .type = in[4],
        .flags = in[5],
        .summary = gt_bytes_le32(in + 8),
        .packed = gt_bytes_le32(in + 12),
        .unpacked = gt_bytes_le32(in + 16),
        .vcpu = gt_bytes_le32(in + 20),
        .first = gt_bytes_le64(in + 24),
        .count = gt_bytes_le64(in + 32),
        .other = gt_bytes_le64(in + 40),
        .names = gt_bytes_le32(in + 48),
        .insn = gt_bytes_le32(in + 52),
    };
    return gt_bytes_le32(in) == GT_EXECLOG_CHUNK && out->summary <= GT_EXECLOG_MAX_SUMMARY &&
           out->unpacked <= GT_EXECLOG_MAX_UNPACKED && out->packed <= GT_EXECLOG_MAX_PACKED &&
           out->vcpu < GT_EXECLOG_MAX_VCPUS;
}

bool gt_execlog_chunk_good(const uint8_t *in, const uint8_t *summary, size_t n)
{
    return gt_bytes_le32(in + CHECK_AT) == check_of(in, summary, n);
}
