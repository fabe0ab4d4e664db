/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets in a thread's buffer: see packets.h. */
#include "etrace/plugin/packets.h"

#include "etrace/plugin/buffer.h"
#include "etrace/plugin/recorder.h"
#include "qemu/support/messages.h"
#include "qemu/support/trace-plugin.h"

enum {
    BARRIER = GT_ETRACE_HEADER, /* bytes, after each EXEC */
    MIN_ROOM = 256,             /* bytes, for an EXEC packet */
};

void gt_etrace_close(struct gt_etrace_vcpu *v)
{
    v->run = (struct gt_etrace_run){.fill = 1, .end_time = UINT64_MAX, .bits = 64};
    __atomic_store_n(&v->mem.end, NULL, __ATOMIC_RELAXED);
}

static void put_barrier(struct gt_packet_buffer *b, uint16_t unit)
{
    struct gt_bytes_writer w;
    gt_bytes_writer_init(&w, b->data + b->used, BARRIER);
    gt_etrace_put_barrier(&w, unit);
    b->used += BARRIER;
}

void gt_etrace_buffer_end_run(struct gt_etrace_buffer *buf)
{
    struct gt_etrace_vcpu *v = buf->current;
    const uint8_t *mem = v && buf->packets ? gt_etrace_mem_end(v) : NULL;
    if (mem)
        buf->packets->used = (size_t)(mem - buf->packets->data);
    if (!v || !gt_etrace_is_open(v))
        return;
    struct gt_etrace_run run = v->run; /* at the end, the vCPU may extend it on its own thread */
    size_t n = gt_etrace_run_take(&run);
    if (n && buf->packets) {
        buf->newest = run.packet + n - gt_etrace_entry_size(buf->recorder->bits);
        buf->packets->used += n;
        put_barrier(buf->packets, v->unit);
    }
}

void gt_etrace_buffer_close_run(struct gt_etrace_buffer *buf)
{
    gt_etrace_buffer_end_run(buf);
    if (buf->current)
        gt_etrace_close(buf->current);
}

uint8_t *gt_etrace_newest(const struct gt_etrace *e, const struct gt_etrace_vcpu *v)
{
    if (gt_etrace_is_open(v))
        return v->run.packet + v->run.fill - gt_etrace_entry_size(e->bits);
    return v->buffer && v->buffer->current == v ? v->buffer->newest : NULL;
}

bool gt_etrace_buffer_make_room(struct gt_etrace_buffer *buf, size_t n)
{
    if (!buf->packets)
        buf->packets = gt_packet_sink_acquire(buf->recorder->sink);
    if (!buf->packets || buf->packets->size - buf->packets->used >= n)
        return buf->packets != NULL;
    gt_etrace_buffer_hand_over(buf);
    return true;
}

void gt_etrace_buffer_hand_over(struct gt_etrace_buffer *buf)
{
    struct gt_packet_sink *sink = buf->recorder->sink;
    buf->newest = NULL;
    buf->handed = gt_base_clock_monotonic();
    trace_etrace_packets(buf->packets ? buf->packets->used : 0);
    buf->packets = gt_packet_sink_exchange(sink, buf->packets);
    gt_support_sink_message_report(sink);
}

void gt_etrace_buffer_begin_run(struct gt_etrace_buffer *buf, uint64_t start, uint64_t end,
                                uint64_t time, uint64_t until)
{
    struct gt_etrace_vcpu *v = buf->current;
    gt_etrace_buffer_close_run(buf);
    if (!gt_etrace_buffer_make_room(buf, MIN_ROOM))
        return;
    struct gt_packet_buffer *b = buf->packets;
    gt_etrace_run_init(&v->run, b->data + b->used, b->size - b->used - BARRIER, v->unit,
                       buf->recorder->bits);
    gt_etrace_run_add(&v->run, start, end, time, until);
}

void gt_etrace_buffer_settle_clock(struct gt_etrace_buffer *buf)
{
    struct gt_etrace_vcpu *v = buf->current;
    if (!v || !v->pending)
        return;
    uint64_t now = gt_base_clock_monotonic();
    if (!gt_etrace_run_add(&v->run, v->start, v->end, v->since, now))
        gt_etrace_buffer_begin_run(buf, v->start, v->end, v->since, now);
    v->pending = false;
}

void gt_etrace_buffer_switch(struct gt_etrace_buffer *buf, struct gt_etrace_vcpu *v)
{
    gt_etrace_buffer_settle_clock(buf);
    gt_etrace_buffer_close_run(buf);
    buf->newest = NULL;
    buf->current = v;
}
