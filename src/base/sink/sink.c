/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The producers' side of a packet sink: see sink.h. */
#include "base/clock.h"
#include "base/sink/internal.h"
#include "base/thread.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STACK = 128 << 10, MANY = 8 }; /* buffers */

static const uint64_t SECOND = UINT64_C(1000000000); /* ns */
static const char socket_prefix[] = "unix:";

bool gt_packet_sink_message(struct gt_packet_sink *o, struct gt_error *out)
{
    if (!atomic_load_explicit(&o->has_message, memory_order_relaxed))
        return false;
    pthread_mutex_lock(&o->lock);
    bool some = atomic_exchange(&o->has_message, false);
    *out = o->message;
    pthread_mutex_unlock(&o->lock);
    return some;
}

static int take_target(struct gt_packet_sink *o, struct gt_error *err)
{
    const char *target = o->options.target;
    struct gt_packet_channel *c = &o->channel;
    c->fd = c->listener.fd = -1;
    c->socket = strncmp(target, socket_prefix, sizeof socket_prefix - 1) == 0;
    if (c->socket)
        target += sizeof socket_prefix - 1;
    if (!*target)
        return gt_error_set(err, GT_E_USAGE, "%s: expected a path", o->options.target);
    int status = c->socket ? gt_socket_check_path(target, err) : 0;
    if (status < 0)
        return status;
    c->path = strdup(target);
    return c->path ? 0 : gt_error_set(err, GT_E_NOMEM, "out of memory");
}

/* Returns when the thread has opened the target, or has failed to. */
static int start(struct gt_packet_sink *o, struct gt_error *err)
{
    int e = gt_thread_start(&o->thread, STACK, gt_packet_sink_write, o);
    if (e)
        return gt_error_errno(err, e, "%s: cannot start a thread", o->options.target);
    o->started = true;
    pthread_mutex_lock(&o->lock);
    while (o->state == GT_PACKET_SINK_OPENING)
        pthread_cond_wait(&o->space, &o->lock);
    pthread_mutex_unlock(&o->lock);
    if (o->open_error.status && err)
        *err = o->open_error;
    return o->open_error.status;
}

int gt_packet_sink_create(const struct gt_packet_sink_options *options, struct gt_packet_sink **out,
                          struct gt_error *err)
{
    struct gt_packet_sink *o = calloc(1, sizeof *o);
    if (!o)
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    o->options = *options;
    o->last = &o->first;
    o->max_queued = options->limit / options->buffer_size;
    o->max_queued += o->max_queued == 0;
    o->deadline = gt_base_clock_monotonic() + options->wait_seconds * SECOND;
    o->channel.patience = (options->wait_seconds ? options->wait_seconds : 1) * SECOND;
    pthread_mutex_init(&o->lock, NULL);
    gt_thread_cond_init(&o->work);
    gt_thread_cond_init(&o->space);
    int status = take_target(o, err);
    if (status == 0)
        status = start(o, err);
    if (status < 0)
        gt_packet_sink_destroy(o);
    else
        *out = o;
    return status;
}

static struct gt_packet_buffer *new_buffer(size_t size)
{
    struct gt_packet_buffer *b = malloc(sizeof *b + size);
    if (b)
        *b = (struct gt_packet_buffer){.data = (uint8_t *)(b + 1), .size = size};
    return b;
}

/* (L) */
static struct gt_packet_buffer *empty_one(struct gt_packet_sink *o)
{
    struct gt_packet_buffer *b = o->free;
    if (!b)
        return new_buffer(o->options.buffer_size);
    o->free = b->next;
    b->used = 0;
    return b;
}

struct gt_packet_buffer *gt_packet_sink_acquire(struct gt_packet_sink *o)
{
    pthread_mutex_lock(&o->lock);
    struct gt_packet_buffer *b = empty_one(o);
    pthread_mutex_unlock(&o->lock);
    return b;
}

/* False: nothing can be handed over. (L) */
static bool wait_for_space(struct gt_packet_sink *o)
{
    bool waited = false;
    while (o->n_queued >= o->max_queued && !o->options.drop && o->state <= GT_PACKET_SINK_SENDING) {
        o->stats.waits += !waited;
        waited = true;
        pthread_cond_wait(&o->space, &o->lock);
    }
    return o->state <= GT_PACKET_SINK_SENDING && o->n_queued < o->max_queued && !o->forked;
}

/* A reader who is there sees it at once. To a file several are written at a time: to wake a thread
 * takes as long as to fill a good part of a buffer. (L) */
static void wake(struct gt_packet_sink *o)
{
    bool many = o->channel.socket || o->n_queued >= MANY || o->n_queued >= o->max_queued;
    if (!o->sleeping || !many)
        return;
    o->sleeping = false;
    pthread_cond_signal(&o->work);
}

/* (L) */
static void queue(struct gt_packet_sink *o, struct gt_packet_buffer *b)
{
    b->dropped = o->gap;
    o->gap = 0;
    b->next = NULL;
    *o->last = b;
    o->last = &b->next;
    o->n_queued++;
    wake(o);
}

/* (L) */
static void drop(struct gt_packet_sink *o, struct gt_packet_buffer *b)
{
    o->stats.dropped += b->used;
    o->gap += b->used;
    b->used = 0;
}

struct gt_packet_buffer *gt_packet_sink_exchange(struct gt_packet_sink *o,
                                                 struct gt_packet_buffer *b)
{
    if (b->used == 0)
        return b;
    pthread_mutex_lock(&o->lock);
    struct gt_packet_buffer *empty = wait_for_space(o) ? empty_one(o) : NULL;
    if (empty) {
        queue(o, b);
    } else {
        drop(o, b);
        empty = b;
    }
    pthread_mutex_unlock(&o->lock);
    return empty;
}

struct gt_packet_buffer *gt_packet_sink_try_exchange(struct gt_packet_sink *o,
                                                     struct gt_packet_buffer *b)
{
    pthread_mutex_lock(&o->lock);
    bool room = o->state == GT_PACKET_SINK_SENDING && o->n_queued < o->max_queued && !o->forked;
    struct gt_packet_buffer *empty = b->used && room ? empty_one(o) : NULL;
    if (empty)
        queue(o, b);
    pthread_mutex_unlock(&o->lock);
    return empty ? empty : b;
}

void gt_packet_sink_submit(struct gt_packet_sink *o, struct gt_packet_buffer *b)
{
    pthread_mutex_lock(&o->lock);
    bool kept = b->used && wait_for_space(o);
    if (kept)
        queue(o, b);
    else
        drop(o, b);
    pthread_mutex_unlock(&o->lock);
    if (!kept)
        free(b);
}

void gt_packet_sink_flush(struct gt_packet_sink *o)
{
    pthread_mutex_lock(&o->lock);
    o->flush = o->state == GT_PACKET_SINK_SENDING;
    pthread_cond_signal(&o->work);
    while ((o->n_queued || o->flush) && o->state <= GT_PACKET_SINK_SENDING)
        pthread_cond_wait(&o->space, &o->lock);
    pthread_mutex_unlock(&o->lock);
}

void gt_packet_sink_expect_end(struct gt_packet_sink *o)
{
    uint64_t not_yet = 0;
    atomic_compare_exchange_strong(&o->channel.bounded_from, &not_yet, gt_base_clock_monotonic());
}

void gt_packet_sink_exec_begin(struct gt_packet_sink *o)
{
    atomic_store_explicit(&o->channel.executing_from, gt_base_clock_monotonic(),
                          memory_order_relaxed);
    atomic_fetch_add_explicit(&o->channel.executing, 1, memory_order_release);
}

void gt_packet_sink_exec_end(struct gt_packet_sink *o)
{
    atomic_fetch_sub_explicit(&o->channel.executing, 1, memory_order_release);
    if (o->options.exec_tail && !o->channel.socket)
        gt_packet_sink_flush(o);
}

void gt_packet_sink_finish(struct gt_packet_sink *o, struct gt_packet_sink_stats *stats)
{
    gt_packet_sink_expect_end(o);
    pthread_mutex_lock(&o->lock);
    o->stop = true;
    pthread_cond_signal(&o->work);
    bool join = o->started && !o->forked;
    o->started = false;
    pthread_mutex_unlock(&o->lock);
    if (join)
        pthread_join(o->thread, NULL);
    if (stats)
        gt_packet_sink_get_stats(o, stats);
}

void gt_packet_sink_get_stats(struct gt_packet_sink *o, struct gt_packet_sink_stats *stats)
{
    pthread_mutex_lock(&o->lock);
    *stats = o->stats;
    pthread_mutex_unlock(&o->lock);
}

static void free_list(struct gt_packet_buffer *b)
{
    for (struct gt_packet_buffer *next; b; b = next) {
        next = b->next;
        free(b);
    }
}

void gt_packet_sink_destroy(struct gt_packet_sink *o)
{
    if (!o)
        return;
    gt_packet_sink_finish(o, NULL);
    free_list(o->first);
    free_list(o->free);
    free(o->channel.path);
    free(o->tail.data);
    pthread_mutex_destroy(&o->lock);
    pthread_cond_destroy(&o->work);
    pthread_cond_destroy(&o->space);
    free(o);
}

void gt_packet_sink_fork_prepare(struct gt_packet_sink *o)
{
    pthread_mutex_lock(&o->lock);
}

void gt_packet_sink_fork_parent(struct gt_packet_sink *o)
{
    pthread_mutex_unlock(&o->lock);
}

void gt_packet_sink_fork_child(struct gt_packet_sink *o)
{
    o->forked = true;
    o->state = GT_PACKET_SINK_DEAD;
    o->has_message = false;
    pthread_mutex_unlock(&o->lock);
}
