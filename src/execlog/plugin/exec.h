/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Executed instructions: the hot path. Callbacks of translated code, on the vCPU's thread; they
 * take no lock of ours, and report no errors.
 *
 * An access to a device may make QEMU run its instruction again, alone, without reporting that it
 * begins: then an access comes from a block that has not begun. It belongs to the newest line.
 */
#ifndef GT_EXECLOG_PLUGIN_EXEC_H
#define GT_EXECLOG_PLUGIN_EXEC_H

#include "qemu/host.h"

#include <stdint.h>

struct gt_exlog;
struct gt_exlog_vcpu;

void gt_exlog_on_block(unsigned vcpu, void *block);    /* struct gt_exlog_block begins */
void gt_exlog_on_line(unsigned vcpu, void *line);      /* GT_EXLOG_LOG: struct gt_exlog_line */
void gt_exlog_on_line_regs(unsigned vcpu, void *line); /* GT_EXLOG_CHECK_LOG */
void gt_exlog_on_check(unsigned vcpu, void *nothing);  /* GT_EXLOG_CHECK */
/* The line's instruction accesses memory. */
void gt_exlog_on_access(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *line);
/* The struct gt_exlog_trigger's address is reached. */
void gt_exlog_on_trigger(unsigned vcpu, void *trigger);

/* Delivers the lines that have begun. By a thread that has entered the vCPU, or
 * holds all of them back. */
void gt_exlog_deliver(struct gt_exlog *e, struct gt_exlog_vcpu *v);

/*
 * Translation. A block with lines gets one callback where it begins; where each line does, the
 * translated code stores how many have begun: an instruction that faults has. Where the host has no
 * such stores, where registers are checked, and for a block of one line, each line has a callback.
 */

/* Callback of the host; `self` is the recorder. */
void gt_exlog_on_translate(void *self, struct gt_host_block *block);

#endif
