/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Host threads' buffers: each thread that puts packets has one, from its first packet on. In user
 * mode it ends with the thread's vCPU; otherwise it lives as long as the recorder.
 *
 * Where packets go in is packets.h. All but the queue is used with the buffer's lock, so that the
 * end of the recording, which may come on another thread, finds the buffer whole.
 */
#ifndef GT_ETRACE_PLUGIN_BUFFER_H
#define GT_ETRACE_PLUGIN_BUFFER_H

#include "base/bytes.h"
#include "base/sink/sink.h"
#include "etrace/plugin/exec_queue.h"

#include <pthread.h>
#include <stdbool.h>

struct gt_etrace;
struct gt_etrace_vcpu;

struct gt_etrace_buffer {
    struct gt_etrace_queue queue; /* only its thread appends */
    struct gt_etrace *recorder;
    pthread_mutex_t lock;             /* protects the following members */
    struct gt_packet_buffer *packets; /* the packet sink's memory; NULL: none */
    struct gt_etrace_vcpu *current;   /* whose packets are under way, or were last; NULL: none */
    uint8_t *newest; /* the current vCPU's newest entry, where its packet has ended; NULL: gone */
    struct gt_bytes_writer w; /* between gt_etrace_put_begin and gt_etrace_put_end */
    uint64_t handed;          /* when packets were handed over, monotonic ns */
    bool waits; /* its guest may wait for long, and `packets` holds whole packets not handed over */
    struct gt_etrace_buffer *next; /* of recorder->buffers; with the recorder's lock */
};

/* The calling thread's buffer. NULL: no memory. */
struct gt_etrace_buffer *gt_etrace_own_buffer(struct gt_etrace *e);
/* The vCPU's buffer, or (NULL) the thread's, locked, its queue put. NULL: no memory, or the
 * recording has ended. */
struct gt_etrace_buffer *gt_etrace_buffer_lock(struct gt_etrace *e, struct gt_etrace_vcpu *v);
/* The same; packets of the vCPU, if not NULL, follow. */
struct gt_etrace_buffer *gt_etrace_buffer_enter(struct gt_etrace *e, struct gt_etrace_vcpu *v);
/* Puts the blocks executed so far: the queue; clock=host: the current block, as far as it has come.
 * With the buffer's lock. */
void gt_etrace_buffer_settle(struct gt_etrace_buffer *buf);
void gt_etrace_buffer_unlock(struct gt_etrace_buffer *buf); /* NULL is fine */
/* Empties the buffer's queue; at the recording's end without putting it. Takes the buffer's lock.
 */
void gt_etrace_buffer_drain(struct gt_etrace_buffer *buf);
/* Frees the buffer, which holds no packets, if it is the calling thread's. Takes the recorder's
 * lock. */
void gt_etrace_buffer_free_own(struct gt_etrace_buffer *buf);

/* Begins packets other than EXEC, n bytes, at most GT_ETRACE_BUFFER, in the calling thread's
 * buffer: after the entries so far, of the vCPU or (NULL) of none. Write them to the result's `w`.
 * NULL: no memory, or the recording has ended. Else the buffer is locked until gt_etrace_put_end.
 */
struct gt_etrace_buffer *gt_etrace_put_begin(struct gt_etrace *e, struct gt_etrace_vcpu *v,
                                             size_t n);
void gt_etrace_put_end(struct gt_etrace_buffer *buf);
/* The same for a MEM packet of the vCPU: more of them may follow where v->mem says, until anything
 * else is put. */
void gt_etrace_put_end_mem(struct gt_etrace_buffer *buf, struct gt_etrace_vcpu *v);
/* Puts an execution entry that gt_etrace_run_add refused. Where the recording has ended, the vCPU's
 * run takes no entry any more. */
void gt_etrace_put_entry(struct gt_etrace *e, struct gt_etrace_vcpu *v, uint64_t start,
                         uint64_t end, uint64_t time, uint64_t until);

/* The vCPU that ran last on the calling thread, or began there. */
const struct gt_etrace_vcpu *gt_etrace_current_vcpu(struct gt_etrace *e);
/* Drains all queues; no vCPU runs. */
void gt_etrace_drain_all(struct gt_etrace *e);
/* Hands over what the calling thread, which runs no vCPU, has put. */
void gt_etrace_hand_over_own(struct gt_etrace *e);

#endif
