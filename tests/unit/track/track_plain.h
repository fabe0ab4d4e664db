/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hot path, as a recorder uses it: one transfer, and what it found goes to the sink. */
#ifndef TESTS_UNIT_TRACK_PLAIN_H
#define TESTS_UNIT_TRACK_PLAIN_H

#include "track/transfer.h"

/* False: it has decided nothing. */
static inline bool transfer_plain(struct gt_track_thread *t, struct gt_code *code,
                                  uint64_t last_exit, uint64_t time,
                                  const struct gt_track_sink *sink, void *self, uint32_t max_depth)
{
    struct gt_track_call_event found;
    if (!gt_track_transfer(t, code, last_exit, max_depth, &found))
        return false;
    (found.leaves ? sink->leave : sink->enter)(self, t->stack, time, found.depth, found.addr);
    return true;
}

#endif
