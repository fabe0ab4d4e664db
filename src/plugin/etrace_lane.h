/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A lane's inside: etrace_lane.c has what recording does with it, etrace_finish.c how it ends. */
#ifndef GT_PLUGIN_ETRACE_LANE_H
#define GT_PLUGIN_ETRACE_LANE_H

#include "plugin/etrace.h"

struct gt_etrace_lane {
    pthread_mutex_t lock;
    struct gt_buffer *buffer;       /* NULL: none */
    struct gt_etrace_vcpu *current; /* whose packet is under way, or was last; NULL: nobody's */
    uint8_t *newest;                /* its newest entry, where the packet is ended; NULL: gone */
    struct gt_writer w;
    uint64_t handed; /* when a buffer was handed over, monotonic ns */
    struct gt_etrace_lane *next;
};

bool gt_etrace_is_finished(void);
/* The calling thread's; NULL: it has none yet. */
struct gt_etrace_lane *gt_etrace_own_lane(void);
/* The vCPU has no packet under way: its next entry is refused by gt_etrace_run_add. */
void gt_etrace_close(struct gt_etrace_vcpu *v);

/* With the lane's lock. settle: clock=host: the block under way is put as far as it has come.
 * end_run: the packet under way is whole, with its barrier. */
void gt_etrace_lane_settle(struct gt_etrace_lane *lane);
void gt_etrace_lane_end_run(struct gt_etrace_lane *lane);
void gt_etrace_lane_hand_over(struct gt_etrace_lane *lane);

#endif
