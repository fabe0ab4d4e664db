/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * last=N, a flight recorder: a sink that stores the lines delivered of each vCPU, as far as its
 * last N lines need it. At the end, or where stop= ends the recording, it delivers them downstream.
 *
 * Lines are stored in chunks of words; the oldest chunk is dropped when those after it have N
 * lines.
 */
#ifndef GT_EXECLOG_PLUGIN_LAST_H
#define GT_EXECLOG_PLUGIN_LAST_H

#include <stdint.h>

struct gt_exlog;
struct gt_exlog_sink;
struct gt_exlog_vcpu;

struct gt_exlog_last {
    const struct gt_exlog_sink *downstream; /* the sink after this one */
    uint64_t lines;                         /* N; 0: this sink is not used */
};

/* Puts this sink before the recorder's. */
void gt_exlog_last_insert(struct gt_exlog *e);
/* Delivers the stored lines of the vCPU downstream, and empties the store. By a thread that has
 * entered the vCPU, or holds all of them back. */
void gt_exlog_last_deliver(struct gt_exlog_vcpu *v);

#endif
