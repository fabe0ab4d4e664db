/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A packet sink takes one stream of packets to a file or to a reader on a unix socket.
 *
 * Producers fill buffers with whole packets and exchange a full one for an empty one; the sink's
 * thread, which has a descriptor table of its own (thread.h), writes them in the order of the
 * exchanges. Memory is bounded: while `limit` bytes wait, producers wait too (the guest is slowed,
 * nothing is lost); or, with `drop`, the buffer is discarded and counted, and `mark` notes the gap
 * where the stream resumes.
 *
 * Targets: "FILE" is created or truncated. "unix:PATH" connects to PATH; if there is no listener,
 * the sink creates the socket and listens for one reader. A file at PATH that is not a socket is
 * left alone. If no reader connects within `wait_seconds`, or the reader disconnects, the stream
 * ends and the producers continue; with `reconnect` the stream begins again with the next reader,
 * and data in between is dropped and counted. A reader that is connected may take its time, but
 * once the end, or an execve, is expected it is given up when it takes nothing for `wait_seconds`.
 *
 * After an error (full disk, no reader) all data is dropped and counted. A file is cut back to
 * whole buffers. The sink prints nothing: producers fetch messages with gt_packet_sink_message().
 *
 * A killed process leaves a file that lacks only its last moments: with `provisional`, the sink
 * writes what producers have not submitted yet to the end of the file a few times a second (the
 * provisional tail); the next whole buffer overwrites it.
 */
#ifndef GT_BASE_SINK_SINK_H
#define GT_BASE_SINK_SINK_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_packet_sink;

/* A buffer belongs to one producer between acquire or exchange and exchange or submit. */
struct gt_packet_buffer {
    uint8_t *data;
    size_t size; /* bytes of room */
    size_t used; /* bytes of whole packets; 0 after acquire and exchange */

    /* private to the sink */
    struct gt_packet_buffer *next;
    uint64_t dropped; /* bytes dropped just before this buffer */
};

enum { GT_PACKET_SINK_TEXT = 4096 }; /* bytes that `head` and `mark` may write, at most */

struct gt_packet_sink_options {
    const char *target;
    size_t buffer_size; /* bytes of each buffer */
    size_t limit;       /* bytes that may wait to be written; at least one buffer */
    unsigned wait_seconds;
    bool drop, reconnect;
    /* Called on the sink's thread. Both write to `out`, which has room for GT_PACKET_SINK_TEXT
     * bytes, and return how many they wrote. `head`: the first bytes of the stream, for every
     * reader. `mark`: a packet that says that `bytes` bytes are missing here. */
    size_t (*head)(void *self, uint8_t *out);
    size_t (*mark)(void *self, uint64_t bytes, uint8_t *out);
    /* May be NULL; called on the sink's thread. Both return *n bytes, valid until the next call;
     * NULL: out of memory, which ends the stream. `pack`: the bytes that are written for a buffer.
     * `tail`: the last bytes of a complete stream. */
    const uint8_t *(*pack)(void *self, const struct gt_packet_buffer *b, size_t *n);
    const uint8_t *(*tail)(void *self, size_t *n);
    /* May be NULL; called on the sink's thread, and must not wait for a producer. `provisional`
     * (file targets): returns the bytes that producers still hold, valid until the next call; they
     * become the provisional tail. NULL: not known now; the old tail stays and the sink asks again
     * soon. `tick` (sockets): an occasion to submit buffers that have waited for long, with
     * gt_packet_sink_try_exchange. */
    const uint8_t *(*provisional)(void *self, size_t *n);
    void (*tick)(void *self);
    /* May be NULL; as `provisional`: the last bytes of a stream that ends here. They are the tail
     * while another program may replace the process. */
    const uint8_t *(*exec_tail)(void *self, size_t *n);
    void *self;
};

struct gt_packet_sink_stats {
    uint64_t sent;    /* bytes written to the file or a reader: whole packed buffers, and heads */
    uint64_t dropped; /* bytes of buffers that were not sent completely */
    uint64_t waits;   /* how often a producer had to wait */
    bool failed;      /* the stream ended early */
};

/* Opens the target and starts the thread. The strings are copied. GT_E_RANGE: the path is too long
 * for a socket; GT_E_EXISTS: the path exists and is not a socket; GT_E_IO, GT_E_NOT_FOUND,
 * GT_E_NOMEM. */
int gt_packet_sink_create(const struct gt_packet_sink_options *options, struct gt_packet_sink **out,
                          struct gt_error *err);

/* Returns an empty buffer. NULL: out of memory. */
struct gt_packet_buffer *gt_packet_sink_acquire(struct gt_packet_sink *o);

/* Submits the buffer and returns an empty one, which may be the same. */
struct gt_packet_buffer *gt_packet_sink_exchange(struct gt_packet_sink *o,
                                                 struct gt_packet_buffer *b);

/* The same for the sink's own thread: returns the same buffer, still full, if there is no space
 * now. */
struct gt_packet_buffer *gt_packet_sink_try_exchange(struct gt_packet_sink *o,
                                                     struct gt_packet_buffer *b);

/* Submits the producer's last buffer. */
void gt_packet_sink_submit(struct gt_packet_sink *o, struct gt_packet_buffer *b);

/* Returns when all buffers submitted before the call were written or dropped; for a file, the
 * provisional tail as well. */
void gt_packet_sink_flush(struct gt_packet_sink *o);

/* Fetches a message about the sink, once; false: there is no new one. Cheap. */
bool gt_packet_sink_message(struct gt_packet_sink *o, struct gt_error *out);

/* The process ends, or may end without telling: from now on no wait for a reader is without an end.
 * Any thread; the first call counts. gt_packet_sink_finish implies it. */
void gt_packet_sink_expect_end(struct gt_packet_sink *o);

/* The same from begin to end: another program may replace the process, and what waits is written
 * before by gt_packet_sink_flush, as is exec_tail; end takes that back from a file. Any thread. */
void gt_packet_sink_exec_begin(struct gt_packet_sink *o);
void gt_packet_sink_exec_end(struct gt_packet_sink *o);

/* Writes the submitted buffers, as long as the reader accepts them, and ends the thread. Later
 * exchanges drop their data; waiting producers continue. */
void gt_packet_sink_finish(struct gt_packet_sink *o, struct gt_packet_sink_stats *stats);

void gt_packet_sink_get_stats(struct gt_packet_sink *o, struct gt_packet_sink_stats *stats);

/* Finishes the sink if it is not finished, and frees it; there must be no producer left. A producer
 * frees a buffer that it has not submitted, data included, with one free(). NULL is fine. */
void gt_packet_sink_destroy(struct gt_packet_sink *o);

/* fork(): call prepare before it, parent and child after it. The child's sink drops all data and
 * has no messages. */
void gt_packet_sink_fork_prepare(struct gt_packet_sink *o);
void gt_packet_sink_fork_parent(struct gt_packet_sink *o);
void gt_packet_sink_fork_child(struct gt_packet_sink *o);

#endif
