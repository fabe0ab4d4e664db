/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internals of the packet sink: sink.c is the producers' side, writer.c the thread, open.c opens
 * files and sockets. */
#ifndef GT_BASE_SINK_INTERNAL_H
#define GT_BASE_SINK_INTERNAL_H

#include "base/sink/sink.h"
#include "base/socket.h"

#include <pthread.h>
#include <stdatomic.h>

/* The file or socket that the bytes go to. Only the sink's thread uses it. */
struct gt_packet_channel {
    char *path;
    bool socket;
    int fd;       /* -1: no reader is connected */
    bool regular; /* a regular file, not a pipe or a device */
    struct gt_socket_listener listener;
    bool connects;                 /* the reader listens at the path, and we connect */
    uint64_t patience;             /* ns that a reader may take nothing, at the end */
    _Atomic uint64_t bounded_from; /* monotonic ns; 0: it may take its time */
    _Atomic unsigned executing;    /* threads whose process another program may replace */
    _Atomic uint64_t executing_from;
};

/* Opens the file; or connects to the socket, or listens if there is no listener. */
int gt_packet_channel_open(struct gt_packet_channel *c, struct gt_error *err);
/* Waits up to `ms` milliseconds for a reader. True: c->fd is its connection. If the reader listens
 * (c->connects), tries to connect. */
bool gt_packet_channel_accept(struct gt_packet_channel *c, int ms);
/* Closes the connections of further readers. */
void gt_packet_channel_refuse(struct gt_packet_channel *c);
/* Writes all n bytes; returns 0 or an errno value: ETIMEDOUT, if a reader's time is bounded and it
 * took none for `patience`. Adds the bytes that were written to *done. */
int gt_packet_channel_write(struct gt_packet_channel *c, const void *data, size_t n,
                            uint64_t *done);
void gt_packet_channel_disconnect(struct gt_packet_channel *c);
void gt_packet_channel_close(struct gt_packet_channel *c);

enum gt_packet_sink_state {
    GT_PACKET_SINK_OPENING,
    GT_PACKET_SINK_WAITING, /* for the first reader */
    GT_PACKET_SINK_SENDING,
    GT_PACKET_SINK_BETWEEN, /* waiting for the next reader: data is dropped */
    GT_PACKET_SINK_DEAD,
};

struct gt_packet_sink {
    struct gt_packet_sink_options options;
    struct gt_packet_channel channel;
    pthread_t thread;
    bool started;
    uint64_t deadline; /* until when the first reader must connect, monotonic ns */
    uint64_t whole;    /* file targets: bytes of whole buffers */
    struct {           /* file targets: the provisional tail that follows them */
        uint8_t *data;
        size_t n, room;
        uint64_t due; /* when the tail is written again, monotonic ns */
    } tail;

    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t work, space;
    enum gt_packet_sink_state state;
    bool stop, forked, flush;
    bool sleeping;                          /* the thread waits for work */
    struct gt_packet_buffer *first, **last; /* the queue of full buffers */
    struct gt_packet_buffer *free;
    size_t n_queued, max_queued;
    uint64_t gap; /* bytes dropped since the last buffer was queued */
    struct gt_packet_sink_stats stats;
    struct gt_error open_error;
    struct gt_error message;
    _Atomic bool has_message;
};

void *gt_packet_sink_write(void *sink);
static inline bool gt_packet_sink_executes(const struct gt_packet_sink *o)
{
    return atomic_load_explicit(&o->channel.executing, memory_order_acquire) > 0;
}

/* tail.c, without the lock. Writes the provisional tail, or cuts it off. */
void gt_packet_sink_put_tail(struct gt_packet_sink *o);
void gt_packet_sink_cut_tail(struct gt_packet_sink *o);
/* n bytes were written in place of the tail, and are part of `whole` now. */
void gt_packet_sink_replaced_tail(struct gt_packet_sink *o, size_t n);

#endif
