/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vCPUs: what each of them has under way. A vCPU's own thread reads and writes it, without a lock,
 * in a callback that has entered it (gt_etrace_enter); so does the end of the recording, when none
 * is entered any more. The packet sink's thread reads `run` and `mem`, whose fills are atomic.
 */
#ifndef GT_ETRACE_PLUGIN_VCPU_H
#define GT_ETRACE_PLUGIN_VCPU_H

#include "etrace/format/etrace.h"

#include <stdbool.h>
#include <stdint.h>

struct gt_etrace_block;
struct gt_etrace_buffer;

enum { GT_ETRACE_MAX_VCPUS = 65536 /* a unit's number has 16 bits */ };

struct gt_etrace_vcpu {
    struct gt_etrace_run run; /* the EXEC packet under way, else a run that takes no entry */
    struct {                  /* MEM packets under way, in the buffer's memory; atomic */
        uint8_t *at;          /* where the next packet goes */
        uint8_t *end;         /* of the memory; NULL: no MEM packets are under way */
    } mem;
    uint64_t time; /* clock=insn: instructions executed, with the current block's */
    const struct gt_etrace_block *block; /* the current block; NULL: none yet, or it ended early */
    uint16_t unit;                       /* of its packets */
    uint32_t busy;                       /* a callback of it is under way; atomic */
    bool pending;               /* clock=host: the current block has no entry yet; it will be: */
    uint64_t start, end, since; /* its range, and when it began, ns */
    struct gt_etrace_buffer *buffer; /* its thread's; NULL: it has put nothing yet */
    uint64_t mapping;                /* bytes of the mmap call under way; 0: none is */
} __attribute__((aligned(64)));

/* Callbacks of the host; `self` is the recorder. on_vcpu_init runs on the vCPU's thread before its
 * first block. on_vcpu_exit hands its buffer over; in user mode the thread's buffer ends. */
void gt_etrace_on_vcpu_init(void *self, unsigned vcpu);
void gt_etrace_on_vcpu_exit(void *self, unsigned vcpu);

/* An EXEC packet of the vCPU is under way. */
static inline bool gt_etrace_is_open(const struct gt_etrace_vcpu *v)
{
    return v->run.end_time != UINT64_MAX;
}

/* Where the vCPU's MEM packets under way end; NULL: none are under way. */
static inline uint8_t *gt_etrace_mem_end(const struct gt_etrace_vcpu *v)
{
    bool open = __atomic_load_n(&v->mem.end, __ATOMIC_RELAXED) != NULL;
    return open ? __atomic_load_n(&v->mem.at, __ATOMIC_ACQUIRE) : NULL;
}

#endif
