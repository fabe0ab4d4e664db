/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A lane's inside: packets.c has what is in it, exec_queue.c the blocks that wait for it, buffer.c
 * its life and its lock, finish.c how it ends. */
#ifndef GT_PLUGIN_ETRACE_BUFFER_H
#define GT_PLUGIN_ETRACE_BUFFER_H

#include "plugin/etrace/etrace.h"

enum {
    GT_ETRACE_RAN = 1024,
    GT_ETRACE_RAN_VCPU = 48, /* bits, of a block's address; the vCPU's number is above */
};

struct gt_etrace_lane {
    size_t n_ran; /* blocks that ran, and are not put yet; only its thread adds */
    uint64_t ran[GT_ETRACE_RAN];
    pthread_mutex_t lock;           /* of what follows, and for putting */
    struct gt_buffer *buffer;       /* NULL: none */
    struct gt_etrace_vcpu *current; /* whose packet is under way, or was last; NULL: nobody's */
    uint8_t *newest;                /* its newest entry, where the packet is ended; NULL: gone */
    struct gt_writer w;
    uint64_t handed; /* when a buffer was handed over, monotonic ns */
    bool waits;      /* its guest may wait for long, and the packets in the buffer are whole */
    struct gt_etrace_lane *next;
};

static inline const struct gt_etrace_block *gt_etrace_block_of(uint64_t ran)
{
    const unsigned vcpu_bits = 64 - GT_ETRACE_RAN_VCPU;
    return (const struct gt_etrace_block *)(uintptr_t)(ran << vcpu_bits >> vcpu_bits);
}

bool gt_etrace_is_finished(void);
/* The calling thread's. NULL: no memory. */
struct gt_etrace_lane *gt_etrace_own_lane(void);
/* The vCPU's, locked, its blocks put; NULL: it has none, or nothing is recorded any more. */
struct gt_etrace_lane *gt_etrace_lane_lock(struct gt_etrace_vcpu *v);
void gt_etrace_lane_unlock(struct gt_etrace_lane *lane); /* NULL is fine */
/* Makes room for more of them. */
void gt_etrace_lane_drain(struct gt_etrace_lane *lane);
/* With the lane's lock: the blocks that ran are put. */
void gt_etrace_put_listed(struct gt_etrace_lane *lane);
/* The vCPU has no packet under way: its next entry is refused by gt_etrace_run_add. */
void gt_etrace_close(struct gt_etrace_vcpu *v);

/* With the lane's lock. switch: packets are the vCPU's from now on. begin_run: an EXEC packet of it
 * begins with the entry. settle: what ran is put; clock=host: the block under way, as far as it has
 * come. end_run: the packet under way is whole, with its barrier, or MEM packets are. */
void gt_etrace_lane_switch(struct gt_etrace_lane *lane, struct gt_etrace_vcpu *v);
void gt_etrace_lane_begin_run(struct gt_etrace_lane *lane, uint64_t start, uint64_t end,
                              uint64_t time, uint64_t until);
void gt_etrace_lane_settle(struct gt_etrace_lane *lane);
void gt_etrace_lane_end_run(struct gt_etrace_lane *lane);
void gt_etrace_lane_hand_over(struct gt_etrace_lane *lane);
/* end_run, and its vCPU has none any more. */
void gt_etrace_lane_close_run(struct gt_etrace_lane *lane);
/* Room for n bytes; false: no memory. */
bool gt_etrace_lane_make_room(struct gt_etrace_lane *lane, size_t n);
void gt_etrace_lane_settle_clock(struct gt_etrace_lane *lane);

#endif
