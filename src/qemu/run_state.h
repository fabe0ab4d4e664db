/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When a machine stops and runs again, and when its end begins. The plugin interface has no event
 * for either: stops are how a saved state is loaded, and at its end QEMU waits for all vCPUs before
 * plugins hear of it. A QEMU that is built with loadable modules, as distributions build it,
 * exports all its functions to them, also those that add a handler of such changes.
 */
#ifndef GT_QEMU_RUN_STATE_H
#define GT_QEMU_RUN_STATE_H

#include "qemu/host.h"

/* False: this QEMU does not export the functions. */
bool gt_qemu_run_state_is_exported(void);

/* From now on fn is called on QEMU's main thread when the machine stops, or is about to run; a
 * second call changes fn. `clock`: the virtual clock in ns. */
void gt_qemu_run_state_watch(void (*fn)(enum gt_qemu_run_state state, uint64_t clock));

/* While no vCPU runs, on QEMU's main thread: a number of where all vCPUs are, by their program
 * counters, stack pointers and the words on their stacks. 0: unknown. */
uint64_t gt_qemu_run_state_place(void);

/* The same of a machine's end by any cause but exit() in QEMU itself: fn is called before QEMU
 * waits for vCPUs. */
bool gt_qemu_shutdown_is_exported(void);
void gt_qemu_shutdown_watch(void (*fn)(void));

#endif
