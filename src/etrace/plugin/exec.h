/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Executed blocks: the hot path. An entry is put when its block begins, and shortened where the
 * block ends early: by an exception, where the host reports those, or by an access to a device,
 * which QEMU may run again as a block of its own, whose beginning it does not report.
 *
 * Callbacks of translated code, on the vCPU's thread; `block` is a struct gt_etrace_block. They
 * take no lock unless a packet is full, and report no errors: what cannot be put is lost.
 */
#ifndef GT_ETRACE_PLUGIN_EXEC_H
#define GT_ETRACE_PLUGIN_EXEC_H

#include "qemu/host.h"

#include <stdint.h>

struct gt_etrace;
struct gt_etrace_vcpu;

void gt_etrace_on_block(unsigned vcpu, void *block);        /* clock=insn */
void gt_etrace_on_block_queued(unsigned vcpu, void *block); /* clock=insn, EXEC alone */
void gt_etrace_on_block_host(unsigned vcpu, void *block);   /* clock=host */
void gt_etrace_on_block_time(unsigned vcpu, void *block);   /* clock=insn, no EXEC: time only */
/* An access to memory in a block of one instruction: ends the enclosing block early, if it is the
 * current one. */
void gt_etrace_on_single_access(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *block);

/* The vCPU's current block ended early, after its instruction at `pc`. Takes the buffer's lock. */
void gt_etrace_exit_early(struct gt_etrace *e, struct gt_etrace_vcpu *v, uint64_t pc);

/* Translation: which callbacks and inline operations a block gets. Callbacks of the host; `self` is
 * the recorder. on_flush: no translated code refers to a block any more, and no vCPU runs. */
void gt_etrace_on_translate(void *self, struct gt_host_block *block);
void gt_etrace_on_flush(void *self);

#endif
