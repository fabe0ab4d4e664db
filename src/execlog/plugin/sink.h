/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a sink of lines does: it writes them as text, in the binary form, or stores the last ones
 * for another sink.
 *
 * Everything of one vCPU is delivered in order, by one thread at a time; of several vCPUs at the
 * same time. A sink has what belongs to a vCPU in the vCPU's `sink`, until it hands over whole
 * lines. Functions may not be NULL unless said so. None of them reports errors: what cannot be
 * written is counted, or lost.
 */
#ifndef GT_EXECLOG_PLUGIN_SINK_H
#define GT_EXECLOG_PLUGIN_SINK_H

#include "base/error.h"
#include "base/sink/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_exlog;
struct gt_exlog_block;
struct gt_exlog_register;
struct gt_exlog_vcpu;

struct gt_exlog_access {
    bool store;
    uint8_t size;       /* bytes; 0: unknown */
    uint64_t address;   /* physical where there is a region, else virtual */
    const char *region; /* a machine's memory region: "RAM", a device; NULL: user mode or unknown.
                         * It lives as long as the call */
    uint64_t value[2];  /* low half first */
    bool has_value;     /* the host reported the value */
};

struct gt_exlog_sink {
    bool short_values; /* a register's value is at most GT_EXECLOG_MAX_VALUE bytes */
    /* Once, where there is a packet sink: sets the options that its form needs. NULL in a sink that
     * is put before another one. */
    int (*options)(struct gt_exlog *e, struct gt_packet_sink_options *o, struct gt_error *err);
    /* The vCPU begins: sets its `sink`. False: nothing of it can be recorded. */
    bool (*begin)(struct gt_exlog_vcpu *v);
    /* A block is new; before any of its lines. The result becomes its `described`; NULL: no
     * memory. With the lock. */
    void *(*describe)(struct gt_exlog *e, const struct gt_exlog_block *b);
    /* The block ends: frees what `describe` returned. */
    void (*forget)(struct gt_exlog *e, void *described);
    /* The lines `from` to `to` - 1 of the block ran, one after the other. The vCPU's line before
     * them is complete. */
    void (*lines)(struct gt_exlog_vcpu *v, const struct gt_exlog_block *b, size_t from, size_t to);
    /* Of the newest line: an access; a register has another value than it had. Not called before
     * the first line. */
    void (*access)(struct gt_exlog_vcpu *v, const struct gt_exlog_access *a);
    void (*change)(struct gt_exlog_vcpu *v, const struct gt_exlog_register *r, const uint8_t *bytes,
                   size_t n);
    /* The newest line is complete, though none follows yet. */
    void (*complete)(struct gt_exlog_vcpu *v);
    /* The vCPU ends: frees its `sink`. The newest line is complete now; where it was before
     * (`complete`), it is logged once more; where there was none, a line without anything is. */
    void (*end)(struct gt_exlog_vcpu *v);
    /* Hands over all whole lines of the vCPU. */
    void (*hand_over)(struct gt_exlog_vcpu *v);
    /* Sets `needed` of the vCPU's blocks that will be used again; NULL: it needs none. */
    void (*set_needed)(struct gt_exlog_vcpu *v);
    /* Around fork(); may be NULL. */
    void (*fork_prepare)(struct gt_exlog *e);
    void (*fork_done)(struct gt_exlog *e);
};

extern const struct gt_exlog_sink gt_exlog_text, gt_exlog_binary;

#endif
