/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of a vCPU's events that are not inline: see execlog.h. A buffer begins with u32
 * vCPU, u32 lines to skip (chunk.h). */
#include "execlog/format/chunk.h"

static void take_buffer(struct gt_execlog_stream *s, struct gt_buffer *b)
{
    s->buffer = b;
    gt_put32(gt_put32(b->data, s->vcpu), 0);
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

void gt_execlog_begin(struct gt_execlog_stream *s, unsigned vcpu, struct gt_buffer *b,
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

struct gt_buffer *gt_execlog_end(struct gt_execlog_stream *s, bool repeats)
{
    if (s->by_insn)
        gt_execlog_stop(s, s->index + 1);
    struct gt_buffer *b = s->buffer;
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

void gt_execlog_skip(struct gt_buffer *b, uint32_t lines)
{
    gt_put32(b->data + 4, lines);
}
