/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A packet sink: where one stream of packets goes, a file or a reader on a unix socket.
 *
 * Producers fill buffers of whole packets and swap a full one for an empty one; a thread of ours
 * with a descriptor table of its own (thread.h) writes them in the order of the swaps. Memory is
 * bounded: where `limit` bytes wait, producers wait too (the guest is slowed, nothing is lost), or,
 * with `drop`, the buffer is discarded, counted, and marked where the stream goes on.
 *
 * Targets: "FILE", which is created or emptied, and "unix:PATH": connects to PATH; where nobody
 * listens there, creates it and listens for one reader. What is at PATH and is no socket stays. A
 * reader that does not come within `wait_seconds`, or goes away, ends the stream, and the producers
 * go on; with `reconnect` the stream begins again with the next reader, and what comes between is
 * dropped and counted.
 *
 * After an error (full disk, no reader) everything is dropped and counted. A file is cut back to
 * whole buffers. Nothing is printed: the producers ask gt_packet_sink_message().
 *
 * A process that is killed leaves a file that lacks the last moment only: with `rest`, what
 * producers have not handed over yet is written to the file's end a few times a second, until what
 * belongs there takes its place.
 */
#ifndef GT_BASE_SINK_SINK_H
#define GT_BASE_SINK_SINK_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_packet_sink;

/* Its holder's alone, from take or swap to swap or give. */
struct gt_buffer {
    uint8_t *data;
    size_t size; /* room */
    size_t used; /* whole packets; 0 where it comes from take or swap */

    /* the packet sink's */
    struct gt_buffer *next;
    uint64_t dropped; /* bytes, just before it */
};

enum { GT_PACKET_SINK_TEXT = 4096 }; /* the most that `head` and `mark` write */

struct gt_packet_sink_options {
    const char *target;
    size_t buffer_size; /* bytes, each */
    size_t limit;       /* bytes that wait to be written; at least one buffer */
    unsigned wait_seconds;
    bool drop, reconnect;
    /* Called on the packet sink's thread; both return how much they wrote to out, which has room
     * for GT_PACKET_SINK_TEXT. `head`: what the stream begins with, for every reader. `mark`: says
     * that so many bytes are missing here. */
    size_t (*head)(void *self, uint8_t *out);
    size_t (*mark)(void *self, uint64_t bytes, uint8_t *out);
    /* Both may be NULL; called there too. They give *n bytes, theirs until the next call; NULL: no
     * memory, which ends the stream. `pack`: what is written for a buffer. `tail`: what a stream
     * that comes to its end ends with. */
    const uint8_t *(*pack)(void *self, const struct gt_buffer *b, size_t *n);
    const uint8_t *(*tail)(void *self, size_t *n);
    /* Both may be NULL; called there too, and never wait for a producer. `rest`: of a file, the
     * bytes that producers hold yet, until the next call: the file ends with them for now; NULL: it
     * cannot say, what there is stays and it is asked again soon. `tick`: of a socket, a moment to
     * hand over what waits for long, by gt_packet_sink_try_exchange.
     */
    const uint8_t *(*rest)(void *self, size_t *n);
    void (*tick)(void *self);
    void *self;
};

struct gt_packet_sink_stats {
    uint64_t sent;    /* bytes that the file or a reader took: whole buffers, packed; heads */
    uint64_t dropped; /* bytes of buffers that were not sent whole */
    uint64_t waits;   /* how often a producer had to wait */
    bool failed;      /* the stream ended before its end */
};

/* Opens the target and starts the thread. The strings are copied. GT_E_RANGE: a path that is too
 * long for a socket; GT_E_EXISTS: something that is no socket is at the path; GT_E_IO,
 * GT_E_NOT_FOUND, GT_E_NOMEM. */
int gt_packet_sink_create(const struct gt_packet_sink_options *options, struct gt_packet_sink **out,
                          struct gt_error *err);

/* An empty buffer. NULL: no memory. */
struct gt_buffer *gt_packet_sink_acquire(struct gt_packet_sink *o);

/* Hands the buffer over and returns an empty one, perhaps the same. */
struct gt_buffer *gt_packet_sink_exchange(struct gt_packet_sink *o, struct gt_buffer *b);

/* The same, for the packet sink's own thread: returns the same buffer, still full, where there is
 * no space now. */
struct gt_buffer *gt_packet_sink_try_exchange(struct gt_packet_sink *o, struct gt_buffer *b);

/* Hands over the last one. */
void gt_packet_sink_submit(struct gt_packet_sink *o, struct gt_buffer *b);

/* Returns when what was handed over before was written, or dropped; of a file, the rest, too. */
void gt_packet_sink_flush(struct gt_packet_sink *o);

/* A line about the outlet that was not fetched yet; false: there is none. Cheap. */
bool gt_packet_sink_message(struct gt_packet_sink *o, struct gt_error *out);

/* Writes what was handed over, for as long as a reader takes it, and ends the thread. Later swaps
 * drop; producers that wait go on. */
void gt_packet_sink_finish(struct gt_packet_sink *o, struct gt_packet_sink_stats *stats);

void gt_packet_sink_get_stats(struct gt_packet_sink *o, struct gt_packet_sink_stats *stats);

/* Finishes if need be and frees; no producer may be left. Buffers that are not handed over are
 * their holders' to free, data and all in one free(). NULL is fine. */
void gt_packet_sink_destroy(struct gt_packet_sink *o);

/* fork(): prepare before, parent and child after. The child's outlet drops everything, and has
 * nothing to tell. */
void gt_packet_sink_fork_prepare(struct gt_packet_sink *o);
void gt_packet_sink_fork_parent(struct gt_packet_sink *o);
void gt_packet_sink_fork_child(struct gt_packet_sink *o);

#endif
