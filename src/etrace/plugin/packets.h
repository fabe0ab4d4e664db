/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets in a thread's buffer. It holds whole packets, then perhaps an EXEC packet under way,
 * which gt_etrace_run_add extends without a lock, or MEM packets that are put without one.
 *
 * All functions on a buffer need its lock; the calling thread is the buffer's own, or its guest
 * thread does not run, or the recording has ended.
 */
#ifndef GT_ETRACE_PLUGIN_PACKETS_H
#define GT_ETRACE_PLUGIN_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_etrace;
struct gt_etrace_buffer;
struct gt_etrace_vcpu;

/* The vCPU has no packet under way: gt_etrace_run_add refuses its next entry. */
void gt_etrace_close(struct gt_etrace_vcpu *v);
/* Packets of the vCPU follow. */
void gt_etrace_buffer_switch(struct gt_etrace_buffer *buf, struct gt_etrace_vcpu *v);
/* Begins an EXEC packet of the current vCPU with the entry. Without memory the entry is lost. */
void gt_etrace_buffer_begin_run(struct gt_etrace_buffer *buf, uint64_t start, uint64_t end,
                                uint64_t time, uint64_t until);
/* clock=host: puts the current block, as far as it has come. */
void gt_etrace_buffer_settle_clock(struct gt_etrace_buffer *buf);
/* Completes the EXEC packet under way, with its barrier, or the MEM packets. */
void gt_etrace_buffer_end_run(struct gt_etrace_buffer *buf);
/* The same, and the current vCPU has none under way any more. */
void gt_etrace_buffer_close_run(struct gt_etrace_buffer *buf);
/* Makes room for n bytes, handing over what there is if need be. False: no memory. */
bool gt_etrace_buffer_make_room(struct gt_etrace_buffer *buf, size_t n);
/* Hands over the whole packets. */
void gt_etrace_buffer_hand_over(struct gt_etrace_buffer *buf);
/* The vCPU's newest entry, if it is still in the buffer; else NULL. */
uint8_t *gt_etrace_newest(const struct gt_etrace *e, const struct gt_etrace_vcpu *v);

#endif
