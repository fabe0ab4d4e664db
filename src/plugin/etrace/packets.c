/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets in a thread's buffer. It holds whole packets, then perhaps an EXEC packet under way,
 * which gt_etrace_run_add extends without a lock, or MEM packets that are put without one.
 */
#include "base/clock.h"
#include "plugin/etrace/buffer.h"
#include "plugin/trace-plugin.h"

enum {
    BARRIER = GT_ETRACE_HEADER, /* bytes, after each EXEC */
    LEAST_ROOM = 256,           /* for an EXEC packet */
};

bool gt_etrace_is_finished(void)
{
    return __atomic_load_n(&gt_etrace.finished, __ATOMIC_ACQUIRE);
}

void gt_etrace_close(struct gt_etrace_vcpu *v)
{
    v->run = (struct gt_etrace_run){.fill = 1, .end_time = UINT64_MAX, .bits = 64};
    __atomic_store_n(&v->mem.end, NULL, __ATOMIC_RELAXED);
}

static void put_barrier(struct gt_buffer *b, uint16_t unit)
{
    struct gt_writer w;
    gt_writer_init(&w, b->data + b->used, BARRIER);
    gt_etrace_put_barrier(&w, unit);
    b->used += BARRIER;
}

void gt_etrace_lane_end_run(struct gt_etrace_lane *lane)
{
    struct gt_etrace_vcpu *v = lane->current;
    const uint8_t *mem = v && lane->buffer ? gt_etrace_mem_end(v) : NULL;
    if (mem)
        lane->buffer->used = (size_t)(mem - lane->buffer->data);
    if (!v || !gt_etrace_is_open(v))
        return;
    struct gt_etrace_run run = v->run; /* at the end, the vCPU may go on with it on its thread */
    size_t n = gt_etrace_run_take(&run);
    if (n && lane->buffer) {
        lane->newest = run.packet + n - (gt_etrace.bits == 64 ? 20 : 12);
        lane->buffer->used += n;
        put_barrier(lane->buffer, v->unit);
    }
}

void gt_etrace_lane_close_run(struct gt_etrace_lane *lane)
{
    gt_etrace_lane_end_run(lane);
    if (lane->current)
        gt_etrace_close(lane->current);
}

uint8_t *gt_etrace_newest(const struct gt_etrace_vcpu *v)
{
    if (gt_etrace_is_open(v))
        return v->run.packet + v->run.fill - (gt_etrace.bits == 64 ? 20 : 12);
    return v->lane && v->lane->current == v ? v->lane->newest : NULL;
}

void gt_etrace_tell_news(void)
{
    struct gt_error news;
    if (gt_packet_sink_message(gt_etrace.outlet, &news))
        gt_host_message("%s", news.text);
}

bool gt_etrace_lane_make_room(struct gt_etrace_lane *lane, size_t n)
{
    if (!lane->buffer)
        lane->buffer = gt_packet_sink_acquire(gt_etrace.outlet);
    if (!lane->buffer || lane->buffer->size - lane->buffer->used >= n)
        return lane->buffer != NULL;
    gt_etrace_lane_hand_over(lane);
    return true;
}

void gt_etrace_lane_hand_over(struct gt_etrace_lane *lane)
{
    lane->newest = NULL;
    lane->handed = gt_clock_monotonic();
    trace_etrace_packets(lane->buffer ? lane->buffer->used : 0);
    lane->buffer = gt_packet_sink_exchange(gt_etrace.outlet, lane->buffer);
    gt_etrace_tell_news();
}

void gt_etrace_lane_begin_run(struct gt_etrace_lane *lane, uint64_t start, uint64_t end,
                              uint64_t time, uint64_t until)
{
    struct gt_etrace_vcpu *v = lane->current;
    gt_etrace_lane_close_run(lane);
    if (!gt_etrace_lane_make_room(lane, LEAST_ROOM))
        return;
    struct gt_buffer *b = lane->buffer;
    gt_etrace_run_init(&v->run, b->data + b->used, b->size - b->used - BARRIER, v->unit,
                       gt_etrace.bits);
    gt_etrace_run_add(&v->run, start, end, time, until);
}

/* clock=host: the block under way is put as far as it has come. */
void gt_etrace_lane_settle_clock(struct gt_etrace_lane *lane)
{
    struct gt_etrace_vcpu *v = lane->current;
    if (!v || !v->pending)
        return;
    uint64_t now = gt_clock_monotonic();
    if (!gt_etrace_run_add(&v->run, v->start, v->end, v->since, now))
        gt_etrace_lane_begin_run(lane, v->start, v->end, v->since, now);
    v->pending = false;
}

void gt_etrace_lane_switch(struct gt_etrace_lane *lane, struct gt_etrace_vcpu *v)
{
    gt_etrace_lane_settle_clock(lane);
    gt_etrace_lane_close_run(lane);
    lane->newest = NULL;
    lane->current = v;
}
