/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A packet sink's inside: sink.c has the producers' side, writer.c the thread, open.c
 * files and sockets. (L): with the lock. */
#ifndef GT_BASE_SINK_INTERNAL_H
#define GT_BASE_SINK_INTERNAL_H

#include "base/sink/sink.h"
#include "base/socket.h"

#include <pthread.h>
#include <stdatomic.h>

/* Where bytes go; the thread's alone. */
struct gt_channel {
    char *path;
    bool socket;
    int fd;       /* -1: nobody is connected */
    bool regular; /* a file, and no pipe or device */
    struct gt_listener listener;
    bool connects; /* the reader listens */
};

/* Opens the file; or connects, or else listens. */
int gt_channel_open(struct gt_channel *c, struct gt_error *err);
/* A reader, if one has come within so many milliseconds: true, c->fd is it. Where the reader
 * listens, not we: tries to connect. */
bool gt_channel_accept(struct gt_channel *c, int ms);
/* Sends away who else wants to read. */
void gt_channel_refuse(struct gt_channel *c);
/* Writes all n bytes: 0, or an errno value. *done counts what was taken. */
int gt_channel_write(struct gt_channel *c, const void *data, size_t n, uint64_t *done);
void gt_channel_disconnect(struct gt_channel *c);
void gt_channel_close(struct gt_channel *c);

enum gt_packet_sink_state {
    GT_PACKET_SINK_OPENING,
    GT_PACKET_SINK_WAITING, /* for the first reader */
    GT_PACKET_SINK_SENDING,
    GT_PACKET_SINK_BETWEEN, /* readers: what comes is dropped */
    GT_PACKET_SINK_DEAD,
};

struct gt_packet_sink {
    struct gt_packet_sink_options options;
    struct gt_channel channel;
    pthread_t thread;
    bool started;
    uint64_t deadline; /* for the first reader, monotonic ns */
    uint64_t whole;    /* of a file: bytes that are whole buffers */
    struct {           /* of a file: what follows them for now */
        uint8_t *data;
        size_t n, room;
        uint64_t due; /* when it is to be looked at, monotonic ns */
    } rest;

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t work, space;
    enum gt_packet_sink_state state;
    bool stop, forked, flush;
    bool sleeping;                   /* the thread, until there is work */
    struct gt_buffer *first, **last; /* the queue */
    struct gt_buffer *free;
    size_t n_queued, max_queued;
    uint64_t gap; /* bytes dropped since a buffer was queued */
    struct gt_packet_sink_stats stats;
    struct gt_error open_error;
    struct gt_error news;
    _Atomic bool has_news;
};

void *gt_packet_sink_write(void *outlet);
/* tail.c, without the lock. The rest as it is now is written; or is cut off. */
void gt_packet_sink_put_tail(struct gt_packet_sink *o);
void gt_packet_sink_cut_tail(struct gt_packet_sink *o);
/* So many bytes were written in its place, and are part of `whole` now. */
void gt_packet_sink_replaced_tail(struct gt_packet_sink *o, size_t n);

#endif
