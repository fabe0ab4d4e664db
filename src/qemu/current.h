/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which vCPU a callback is of. Where one thread runs several vCPUs, QEMU 9 and later pass the
 * number of the one that a block was translated for. A QEMU that is built with loadable modules
 * exports a word that says which one runs; callbacks then go through those here.
 */
#ifndef GT_QEMU_CURRENT_H
#define GT_QEMU_CURRENT_H

#include <stdbool.h>
#include <stdint.h>

/* True: callbacks are to be registered with the functions below, and a target as their data. Called
 * before each. */
bool gt_qemu_current_is_corrected(void);
void *gt_qemu_current_target(void *fn, void *data);
void gt_qemu_current_on_exec(unsigned vcpu, void *target);
void gt_qemu_current_on_memory(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *target);

#endif
