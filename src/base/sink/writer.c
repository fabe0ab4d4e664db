/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A packet sink's thread: see internal.h. It holds the lock, except while it writes or waits for a
 * reader. */
#include "base/clock.h"
#include "base/sink/internal.h"
#include "base/thread.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 50 };         /* between two looks for a reader, or for one too many */
enum { LATE_NS = 1000000000 }; /* the tail's turn, where buffers always wait */

/* For the producers, one of whom prints it. (L) */
static void __attribute__((format(printf, 2, 3)))
post_message(struct gt_packet_sink *o, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(o->message.text, sizeof o->message.text, format, ap);
    va_end(ap);
    o->message.status = GT_E_IO;
    atomic_store_explicit(&o->has_message, true, memory_order_relaxed);
}

static void set_state(struct gt_packet_sink *o, enum gt_packet_sink_state state)
{
    o->state = state;
    pthread_cond_broadcast(&o->space);
}

/* Drops the queue. (L) */
static void drop_queue(struct gt_packet_sink *o)
{
    for (struct gt_packet_buffer *b = o->first, *next; b; b = next) {
        next = b->next;
        o->stats.dropped += b->used;
        o->gap += b->dropped + b->used;
        b->next = o->free;
        o->free = b;
    }
    o->first = NULL;
    o->last = &o->first;
    o->n_queued = 0;
    pthread_cond_broadcast(&o->space);
}

/* The stream cannot go on. (L) */
static void fail(struct gt_packet_sink *o, int error)
{
    bool again = o->channel.socket && o->options.reconnect;
    const char *then =
        again ? "what comes is dropped until there is a reader again" : "the rest is dropped";
    if (error == ETIMEDOUT)
        post_message(
            o,
            "%.300s: the reader is connected, but took nothing for %llu s after %llu bytes; "
            "%s; wait=SECONDS sets how long QEMU's end, and an execve, wait for it",
            o->channel.path, (unsigned long long)(o->channel.patience / 1000000000),
            (unsigned long long)o->stats.sent, then);
    else if (o->channel.socket)
        post_message(o, "%.300s: the reader is gone (%s) after %llu bytes; %s", o->channel.path,
                     strerror(error), (unsigned long long)o->stats.sent, then);
    else
        post_message(o, "%.300s: %s after %llu bytes; %s", o->channel.path, strerror(error),
                     (unsigned long long)o->stats.sent, then);
    gt_packet_channel_disconnect(&o->channel);
    o->stats.failed = true;
    set_state(o, again ? GT_PACKET_SINK_BETWEEN : GT_PACKET_SINK_DEAD);
    drop_queue(o);
}

/* A file ends with a whole buffer. */
static void cut_back(struct gt_packet_sink *o)
{
    if (ftruncate(o->channel.fd, (off_t)o->whole) == 0)
        o->tail.n = 0; /* else a pipe or a device */
}

/* Without the lock: 0, or an errno value. */
static int send_all(struct gt_packet_sink *o, const void *data, size_t n, uint64_t *done)
{
    uint64_t before = *done;
    int e = gt_packet_channel_write(&o->channel, data, n, done);
    if (!e) {
        o->whole += n;
        gt_packet_sink_replaced_tail(o, n);
    } else if (!o->channel.socket) {
        cut_back(o);
        *done = before;
    }
    return e;
}

/* What a reader sees first. (L) */
static void begin(struct gt_packet_sink *o)
{
    uint8_t text[GT_PACKET_SINK_TEXT];
    uint64_t done = 0;
    pthread_mutex_unlock(&o->lock);
    int e = send_all(o, text, o->options.head(o->options.self, text), &done);
    pthread_mutex_lock(&o->lock);
    o->stats.sent += done;
    if (e)
        fail(o, e);
    else
        set_state(o, GT_PACKET_SINK_SENDING);
}

/* A reader has come: no other one is needed, unless it goes. (L) */
static void welcome(struct gt_packet_sink *o)
{
    if (!o->options.reconnect)
        gt_socket_listener_close(&o->channel.listener);
    begin(o);
}

/* (L) */
static void wait_for_first(struct gt_packet_sink *o)
{
    bool late = gt_base_clock_monotonic() >= o->deadline;
    pthread_mutex_unlock(&o->lock);
    bool came = gt_packet_channel_accept(&o->channel, late ? 0 : LOOK_MS);
    pthread_mutex_lock(&o->lock);
    if (came) {
        welcome(o);
    } else if (late) {
        post_message(o, "%.300s: no reader came within %u s; %s", o->channel.path,
                     o->options.wait_seconds,
                     o->options.reconnect ? "what comes is dropped until there is one"
                                          : "nothing is recorded");
        o->stats.failed = true;
        set_state(o, o->options.reconnect ? GT_PACKET_SINK_BETWEEN : GT_PACKET_SINK_DEAD);
        drop_queue(o);
    }
}

/* (L) */
static void wait_for_next(struct gt_packet_sink *o)
{
    pthread_mutex_unlock(&o->lock);
    bool came = gt_packet_channel_accept(&o->channel, LOOK_MS);
    pthread_mutex_lock(&o->lock);
    if (came)
        welcome(o);
}

/* Until there is work, or it is time to look. (L) */
static void wait_for_work(struct gt_packet_sink *o)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += LOOK_MS * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    o->sleeping = true;
    int e = pthread_cond_timedwait(&o->work, &o->lock, &t);
    o->sleeping = false;
    gt_packet_channel_refuse(&o->channel);
    if (e == ETIMEDOUT && o->channel.socket && o->options.tick) {
        pthread_mutex_unlock(&o->lock);
        o->options.tick(o->options.self);
        pthread_mutex_lock(&o->lock);
    }
}

/* When it is time, or when it is asked for, and nothing else waits: what waits was part of it. A
 * stream in which something always waits has its turn a little later. (L) */
static void look_at_tail(struct gt_packet_sink *o)
{
    bool asked = o->flush && !o->first;
    uint64_t due = o->tail.due + (o->first ? LATE_NS : 0);
    bool lacks_end = o->options.exec_tail && !o->tail.n && !o->first && gt_packet_sink_executes(o);
    if (!asked && !lacks_end && (!o->options.provisional || gt_base_clock_monotonic() < due))
        return;
    pthread_mutex_unlock(&o->lock);
    gt_packet_sink_put_tail(o);
    pthread_mutex_lock(&o->lock);
    if (asked) {
        o->flush = false;
        pthread_cond_broadcast(&o->space);
    }
}

/* 0, or an errno value; without the lock. */
static int send_mark(struct gt_packet_sink *o, uint64_t bytes, uint64_t *done)
{
    uint8_t text[GT_PACKET_SINK_TEXT];
    return bytes ? send_all(o, text, o->options.mark(o->options.self, bytes, text), done) : 0;
}

/* 0, or an errno value; without the lock. */
static int send_buffer(struct gt_packet_sink *o, const struct gt_packet_buffer *b, uint64_t *done)
{
    const uint8_t *data = b->data;
    size_t n = b->used;
    if (o->options.pack)
        data = o->options.pack(o->options.self, b, &n);
    return data ? send_all(o, data, n, done) : ENOMEM;
}

/* 0, or an errno value; without the lock. */
static int send_tail(struct gt_packet_sink *o, uint64_t *done)
{
    size_t n = 0;
    if (!o->options.tail)
        return 0;
    const uint8_t *data = o->options.tail(o->options.self, &n);
    return data ? send_all(o, data, n, done) : ENOMEM;
}

/* The oldest buffer. (L) */
static void send_first(struct gt_packet_sink *o)
{
    struct gt_packet_buffer *b = o->first;
    uint64_t done = 0;
    o->first = b->next;
    if (!o->first)
        o->last = &o->first;
    pthread_mutex_unlock(&o->lock);
    int e = send_mark(o, b->dropped, &done);
    if (!e)
        e = send_buffer(o, b, &done);
    pthread_mutex_lock(&o->lock);
    o->n_queued--;
    o->stats.sent += done;
    if (e) {
        o->stats.dropped += b->used;
        o->gap += b->dropped + b->used;
        fail(o, e);
    }
    b->next = o->free;
    o->free = b;
    pthread_cond_broadcast(&o->space);
}

/* Losses after the last buffer, and the tail. (L) */
static void end(struct gt_packet_sink *o)
{
    uint64_t gap = o->gap;
    pthread_mutex_unlock(&o->lock);
    uint64_t done = 0;
    gt_packet_sink_cut_tail(o);
    int e = send_mark(o, gap, &done);
    if (!e)
        e = send_tail(o, &done);
    pthread_mutex_lock(&o->lock);
    o->stats.sent += done;
    if (e)
        fail(o, e);
    set_state(o, GT_PACKET_SINK_DEAD);
}

/* One step. False: all is done. (L) */
static bool step(struct gt_packet_sink *o)
{
    switch (o->state) {
    case GT_PACKET_SINK_WAITING:
        wait_for_first(o);
        return true;
    case GT_PACKET_SINK_SENDING:
        look_at_tail(o);
        if (o->first)
            send_first(o);
        else if (o->stop)
            end(o);
        else
            wait_for_work(o);
        return true;
    case GT_PACKET_SINK_BETWEEN:
        if (o->stop)
            return false;
        wait_for_next(o);
        return true;
    default:
        return false;
    }
}

void *gt_packet_sink_write(void *arg)
{
    struct gt_packet_sink *o = arg;
    gt_thread_own_files();
    int status = gt_packet_channel_open(&o->channel, &o->open_error);
    pthread_mutex_lock(&o->lock);
    if (status < 0) {
        set_state(o, GT_PACKET_SINK_DEAD);
    } else if (o->channel.fd >= 0) {
        begin(o);
    } else {
        post_message(o, "%.300s: waits for a reader, %u s at most", o->channel.path,
                     o->options.wait_seconds);
        set_state(o, GT_PACKET_SINK_WAITING);
    }
    while (step(o))
        ;
    set_state(o, GT_PACKET_SINK_DEAD);
    pthread_mutex_unlock(&o->lock);
    gt_packet_channel_close(&o->channel);
    return NULL;
}
