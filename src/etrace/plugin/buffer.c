/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Host threads' buffers: see buffer.h. */
#include "etrace/plugin/buffer.h"

#include "etrace/plugin/packets.h"
#include "etrace/plugin/recorder.h"

#include <stdlib.h>

/* The calling thread's; NULL: none yet. */
static struct gt_etrace_buffer *own(const struct gt_etrace *e)
{
    return pthread_getspecific(e->own_buffer);
}

const struct gt_etrace_vcpu *gt_etrace_current_vcpu(struct gt_etrace *e)
{
    const struct gt_etrace_buffer *buf = own(e);
    uintptr_t began = (uintptr_t)pthread_getspecific(e->began_there);
    return buf && buf->current ? buf->current : &e->vcpus[began];
}

void gt_etrace_buffer_settle(struct gt_etrace_buffer *buf)
{
    if (buf->queue.n)
        gt_etrace_put_queued(buf);
    gt_etrace_buffer_settle_clock(buf);
}

static struct gt_etrace_buffer *new_buffer(struct gt_etrace *e)
{
    struct gt_etrace_buffer *buf = calloc(1, sizeof *buf);
    if (!buf || pthread_setspecific(e->own_buffer, buf) != 0) {
        free(buf);
        return NULL;
    }
    buf->recorder = e;
    pthread_mutex_init(&buf->lock, NULL);
    pthread_mutex_lock(&e->lock);
    buf->next = e->buffers;
    e->buffers = buf;
    pthread_mutex_unlock(&e->lock);
    return buf;
}

struct gt_etrace_buffer *gt_etrace_own_buffer(struct gt_etrace *e)
{
    struct gt_etrace_buffer *buf = own(e);
    return buf ? buf : new_buffer(e);
}

/* The vCPU's buffer, or (NULL) the thread's, locked; NULL: no memory, or the recording has ended.
 */
static struct gt_etrace_buffer *lock(struct gt_etrace *e, struct gt_etrace_vcpu *v)
{
    if (gt_etrace_is_finished(e))
        return NULL;
    if (v && !v->buffer)
        v->buffer = gt_etrace_own_buffer(e);
    struct gt_etrace_buffer *buf = v ? v->buffer : gt_etrace_own_buffer(e);
    if (!buf)
        return NULL;
    pthread_mutex_lock(&buf->lock);
    if (!gt_etrace_is_finished(e))
        return buf;
    pthread_mutex_unlock(&buf->lock);
    return NULL;
}

struct gt_etrace_buffer *gt_etrace_buffer_lock(struct gt_etrace *e, struct gt_etrace_vcpu *v)
{
    struct gt_etrace_buffer *buf = lock(e, v);
    if (buf && buf->queue.n)
        gt_etrace_put_queued(buf);
    return buf;
}

struct gt_etrace_buffer *gt_etrace_buffer_enter(struct gt_etrace *e, struct gt_etrace_vcpu *v)
{
    struct gt_etrace_buffer *buf = gt_etrace_buffer_lock(e, v);
    if (buf && v && buf->current != v)
        gt_etrace_buffer_switch(buf, v);
    return buf;
}

void gt_etrace_buffer_unlock(struct gt_etrace_buffer *buf)
{
    if (buf)
        pthread_mutex_unlock(&buf->lock);
}

void gt_etrace_buffer_drain(struct gt_etrace_buffer *buf)
{
    pthread_mutex_lock(&buf->lock);
    if (!gt_etrace_is_finished(buf->recorder))
        gt_etrace_put_queued(buf);
    buf->queue.n = 0;
    pthread_mutex_unlock(&buf->lock);
}

void gt_etrace_drain_all(struct gt_etrace *e)
{
    pthread_mutex_lock(&e->lock);
    for (struct gt_etrace_buffer *buf = e->buffers; buf; buf = buf->next)
        gt_etrace_buffer_drain(buf);
    pthread_mutex_unlock(&e->lock);
}

void gt_etrace_put_entry(struct gt_etrace *e, struct gt_etrace_vcpu *v, uint64_t start,
                         uint64_t end, uint64_t time, uint64_t until)
{
    struct gt_etrace_buffer *buf = gt_etrace_buffer_enter(e, v);
    if (!buf) {
        gt_etrace_close(v);
        return;
    }
    gt_etrace_buffer_begin_run(buf, start, end, time, until);
    pthread_mutex_unlock(&buf->lock);
}

struct gt_etrace_buffer *gt_etrace_put_begin(struct gt_etrace *e, struct gt_etrace_vcpu *v,
                                             size_t n)
{
    struct gt_etrace_buffer *buf = gt_etrace_buffer_enter(e, v);
    if (!buf)
        return NULL;
    gt_etrace_buffer_settle(buf);
    gt_etrace_buffer_close_run(buf);
    if (!gt_etrace_buffer_make_room(buf, n)) {
        pthread_mutex_unlock(&buf->lock);
        return NULL;
    }
    gt_bytes_writer_init(&buf->w, buf->packets->data + buf->packets->used, n);
    return buf;
}

void gt_etrace_put_end(struct gt_etrace_buffer *buf)
{
    buf->packets->used = (size_t)(buf->w.at - buf->packets->data);
    pthread_mutex_unlock(&buf->lock);
}

void gt_etrace_put_end_mem(struct gt_etrace_buffer *buf, struct gt_etrace_vcpu *v)
{
    const struct gt_packet_buffer *b = buf->packets;
    __atomic_store_n(&v->mem.at, buf->w.at, __ATOMIC_RELAXED);
    __atomic_store_n(&v->mem.end, b->data + b->size, __ATOMIC_RELEASE);
    gt_etrace_put_end(buf);
}

static void unlink_buffer(struct gt_etrace *e, const struct gt_etrace_buffer *buf)
{
    pthread_mutex_lock(&e->lock);
    struct gt_etrace_buffer **p = &e->buffers;
    while (*p && *p != buf)
        p = &(*p)->next;
    if (*p)
        *p = buf->next;
    pthread_mutex_unlock(&e->lock);
}

void gt_etrace_buffer_free_own(struct gt_etrace_buffer *buf)
{
    struct gt_etrace *e = buf->recorder;
    if (buf != own(e))
        return;
    unlink_buffer(e, buf);
    pthread_mutex_destroy(&buf->lock);
    free(buf);
    pthread_setspecific(e->own_buffer, NULL);
}

void gt_etrace_hand_over_own(struct gt_etrace *e)
{
    struct gt_etrace_buffer *buf = gt_etrace_own_buffer(e);
    if (!buf)
        return;
    pthread_mutex_lock(&buf->lock);
    if (!gt_etrace_is_finished(e) && buf->packets)
        gt_etrace_buffer_hand_over(buf);
    pthread_mutex_unlock(&buf->lock);
}
