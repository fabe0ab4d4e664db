/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What lanes hold that is not handed over yet, on the packet sink's thread. Of a file, a copy of
 * it, as whole packets, is what the file ends with for now, in case that QEMU is killed; the lanes
 * are left as they are, so that a file has the same packets in every run. To a socket, what a guest
 * that waits has left behind is handed over.
 *
 * Nobody is waited for: who holds a lock may be waiting for the outlet.
 */
#include "plugin/etrace/buffer.h"

#include <stdlib.h>
#include <string.h>

enum { BARRIER = GT_ETRACE_HEADER };

static struct {
    uint8_t *data;
    size_t n, room;
} rest; /* the packet sink's thread's alone */

static size_t entry_size(void)
{
    return gt_etrace.bits == 64 ? 20 : 12;
}

/* The most that a lane may hold. */
static size_t lane_room(void)
{
    return GT_ETRACE_BUFFER + GT_ETRACE_RAN * entry_size() + BARRIER;
}

static void put_barrier(uint16_t unit)
{
    struct gt_writer w;
    gt_writer_init(&w, rest.data + rest.n, BARRIER);
    gt_etrace_put_barrier(&w, unit);
    rest.n += BARRIER;
}

/* The packet of the vCPU that is under way. Where entries are not listed its thread goes on with
 * the newest one meanwhile: that is left out. */
static struct gt_etrace_run copy_run(const struct gt_etrace_vcpu *v, bool listed)
{
    struct gt_etrace_run run = v->run;
    const size_t head = GT_ETRACE_HEADER + 8;
    size_t fill = __atomic_load_n(&v->run.fill, __ATOMIC_ACQUIRE);
    fill -= listed ? 0 : entry_size();
    if (!gt_etrace_is_open(v) || fill < head || fill > GT_ETRACE_BUFFER)
        fill = 0;
    memcpy(rest.data + rest.n, v->run.packet, fill);
    run.packet = rest.data + rest.n;
    run.room = lane_room();
    run.fill = fill > head ? fill : 0;
    run.unit = v->unit;
    run.bits = (uint8_t)gt_etrace.bits;
    return run;
}

/* Blocks that ran since; where another vCPU's come, no further. */
static void add_listed(struct gt_etrace_run *run, const struct gt_etrace_lane *lane,
                       const struct gt_etrace_vcpu *v)
{
    uint64_t time = v->time;
    size_t n = __atomic_load_n(&lane->n_ran, __ATOMIC_ACQUIRE);
    for (size_t i = 0; i < n; i++) {
        const struct gt_etrace_block *b = gt_etrace_block_of(lane->ran[i]);
        if (lane->ran[i] >> GT_ETRACE_RAN_VCPU != gt_etrace_number(v) ||
            !gt_etrace_run_add(run, b->start, b->end, time, time + b->insns))
            return;
        time += b->insns;
    }
}

static void copy_lane(const struct gt_etrace_lane *lane)
{
    const struct gt_buffer *b = lane->buffer;
    const struct gt_etrace_vcpu *v = lane->current;
    const uint8_t *mem = v && b ? gt_etrace_mem_end(v) : NULL;
    if (b) {
        size_t n = mem ? (size_t)(mem - b->data) : b->used;
        memcpy(rest.data + rest.n, b->data, n);
        rest.n += n;
    }
    bool listed = gt_etrace_is_listed();
    if (!v && listed && __atomic_load_n(&lane->n_ran, __ATOMIC_ACQUIRE))
        v = &gt_etrace.vcpus[lane->ran[0] >> GT_ETRACE_RAN_VCPU];
    if (!v)
        return;
    struct gt_etrace_run run = copy_run(v, listed);
    if (listed)
        add_listed(&run, lane, v);
    size_t n = gt_etrace_run_take(&run);
    rest.n += n;
    if (n)
        put_barrier(run.unit);
}

static bool make_room(void)
{
    size_t need = 0;
    for (struct gt_etrace_lane *lane = gt_etrace.lanes; lane; lane = lane->next)
        need += lane_room();
    if (need > rest.room) {
        free(rest.data);
        rest.data = malloc(need);
        rest.room = rest.data ? need : 0;
    }
    return rest.data != NULL;
}

const uint8_t *gt_etrace_rest(void *self, size_t *n)
{
    (void)self;
    rest.n = 0;
    if (gt_etrace_is_finished() || pthread_mutex_trylock(&gt_etrace.lock) != 0)
        return NULL;
    bool all = make_room();
    for (struct gt_etrace_lane *lane = gt_etrace.lanes; lane && all; lane = lane->next) {
        all = pthread_mutex_trylock(&lane->lock) == 0;
        if (!all)
            break;
        copy_lane(lane);
        pthread_mutex_unlock(&lane->lock);
    }
    pthread_mutex_unlock(&gt_etrace.lock);
    *n = rest.n;
    return all ? rest.data : NULL;
}

/* Where the guest goes on already, its buffer has a packet under way: that goes out by itself. */
static void hand_over_whole(struct gt_etrace_lane *lane)
{
    const struct gt_etrace_vcpu *v = lane->current;
    bool under_way = v && (gt_etrace_is_open(v) || gt_etrace_mem_end(v));
    if (lane->waits && lane->buffer && !under_way) {
        lane->buffer = gt_packet_sink_try_exchange(gt_etrace.outlet, lane->buffer);
        lane->newest = NULL;
    }
    lane->waits = lane->waits && !under_way && lane->buffer && lane->buffer->used;
}

void gt_etrace_tick(void *self)
{
    (void)self;
    if (gt_etrace_is_finished() || pthread_mutex_trylock(&gt_etrace.lock) != 0)
        return;
    for (struct gt_etrace_lane *lane = gt_etrace.lanes; lane; lane = lane->next) {
        if (!lane->waits || pthread_mutex_trylock(&lane->lock) != 0)
            continue;
        hand_over_whole(lane);
        pthread_mutex_unlock(&lane->lock);
    }
    pthread_mutex_unlock(&gt_etrace.lock);
}
