/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What buffers hold that is not handed over yet: see tail.h. */
#include "etrace/plugin/tail.h"

#include "etrace/plugin/buffer.h"
#include "etrace/plugin/recorder.h"

#include <stdlib.h>
#include <string.h>

enum { BARRIER = GT_ETRACE_HEADER };

/* The most bytes that a buffer may hold. */
static size_t max_bytes(const struct gt_etrace *e)
{
    return GT_ETRACE_BUFFER + GT_ETRACE_QUEUE * gt_etrace_entry_size(e->bits) + BARRIER;
}

static void put_barrier(struct gt_etrace_tail *t, uint16_t unit)
{
    struct gt_bytes_writer w;
    gt_bytes_writer_init(&w, t->data + t->n, BARRIER);
    gt_etrace_put_barrier(&w, unit);
    t->n += BARRIER;
}

/* Copies the vCPU's EXEC packet under way. Without a queue its thread may be extending the newest
 * entry: that one is left out. */
static struct gt_etrace_run copy_run(struct gt_etrace *e, const struct gt_etrace_vcpu *v)
{
    struct gt_etrace_tail *t = &e->tail;
    struct gt_etrace_run run = v->run;
    const size_t head = GT_ETRACE_HEADER + 8;
    size_t fill = __atomic_load_n(&v->run.fill, __ATOMIC_ACQUIRE);
    fill -= gt_etrace_has_queue(e) ? 0 : gt_etrace_entry_size(e->bits);
    if (!gt_etrace_is_open(v) || fill < head || fill > GT_ETRACE_BUFFER)
        fill = 0;
    memcpy(t->data + t->n, v->run.packet, fill);
    run.packet = t->data + t->n;
    run.room = max_bytes(e);
    run.fill = fill > head ? fill : 0;
    run.unit = v->unit;
    run.bits = (uint8_t)e->bits;
    return run;
}

/* Adds the queued blocks, up to the first one of another vCPU. */
static void add_queued(struct gt_etrace_run *run, const struct gt_etrace_buffer *buf,
                       const struct gt_etrace_vcpu *v)
{
    const struct gt_etrace_queue *q = &buf->queue;
    uint64_t time = v->time;
    size_t n = __atomic_load_n(&q->n, __ATOMIC_ACQUIRE);
    for (size_t i = 0; i < n; i++) {
        const struct gt_etrace_block *b = gt_etrace_queued_block(q->entries[i]);
        if (q->entries[i] >> GT_ETRACE_QUEUE_VCPU != gt_etrace_vcpu_index(buf->recorder, v) ||
            !gt_etrace_run_add(run, b->start, b->end, time, time + b->insns))
            return;
        time += b->insns;
    }
}

static void copy_buffer(struct gt_etrace *e, const struct gt_etrace_buffer *buf)
{
    struct gt_etrace_tail *t = &e->tail;
    const struct gt_etrace_queue *q = &buf->queue;
    const struct gt_packet_buffer *b = buf->packets;
    const struct gt_etrace_vcpu *v = buf->current;
    const uint8_t *mem = v && b ? gt_etrace_mem_end(v) : NULL;
    if (b) {
        size_t n = mem ? (size_t)(mem - b->data) : b->used;
        memcpy(t->data + t->n, b->data, n);
        t->n += n;
    }
    bool queued = gt_etrace_has_queue(e);
    if (!v && queued && __atomic_load_n(&q->n, __ATOMIC_ACQUIRE))
        v = &e->vcpus[q->entries[0] >> GT_ETRACE_QUEUE_VCPU];
    if (!v)
        return;
    struct gt_etrace_run run = copy_run(e, v);
    if (queued)
        add_queued(&run, buf, v);
    size_t n = gt_etrace_run_take(&run);
    t->n += n;
    if (n)
        put_barrier(t, run.unit);
}

static bool make_room(struct gt_etrace *e)
{
    struct gt_etrace_tail *t = &e->tail;
    size_t need = 0;
    for (struct gt_etrace_buffer *buf = e->buffers; buf; buf = buf->next)
        need += max_bytes(e);
    if (need > t->room) {
        free(t->data);
        t->data = malloc(need);
        t->room = t->data ? need : 0;
    }
    return t->data != NULL;
}

const uint8_t *gt_etrace_copy_tail(void *self, size_t *n)
{
    struct gt_etrace *e = self;
    e->tail.n = 0;
    if (gt_etrace_is_finished(e) || pthread_mutex_trylock(&e->lock) != 0)
        return NULL;
    bool all = make_room(e);
    for (struct gt_etrace_buffer *buf = e->buffers; buf && all; buf = buf->next) {
        all = pthread_mutex_trylock(&buf->lock) == 0;
        if (!all)
            break;
        copy_buffer(e, buf);
        pthread_mutex_unlock(&buf->lock);
    }
    pthread_mutex_unlock(&e->lock);
    *n = e->tail.n;
    return all ? e->tail.data : NULL;
}

/* Where the guest runs again, its buffer has a packet under way: the thread will hand it over. */
static void hand_over_whole(struct gt_etrace *e, struct gt_etrace_buffer *buf)
{
    const struct gt_etrace_vcpu *v = buf->current;
    bool under_way = v && (gt_etrace_is_open(v) || gt_etrace_mem_end(v));
    if (buf->waits && buf->packets && !under_way) {
        buf->packets = gt_packet_sink_try_exchange(e->sink, buf->packets);
        buf->newest = NULL;
    }
    buf->waits = buf->waits && !under_way && buf->packets && buf->packets->used;
}

void gt_etrace_on_tick(void *self)
{
    struct gt_etrace *e = self;
    if (gt_etrace_is_finished(e) || pthread_mutex_trylock(&e->lock) != 0)
        return;
    for (struct gt_etrace_buffer *buf = e->buffers; buf; buf = buf->next) {
        if (!buf->waits || pthread_mutex_trylock(&buf->lock) != 0)
            continue;
        hand_over_whole(e, buf);
        pthread_mutex_unlock(&buf->lock);
    }
    pthread_mutex_unlock(&e->lock);
}
