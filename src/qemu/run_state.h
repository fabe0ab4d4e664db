/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When a machine stops and runs again. The plugin interface has no event for it, and stops are how
 * a saved state is loaded. A QEMU that is built with loadable modules, as distributions build it,
 * exports all its functions to them, also the one that adds a handler of such changes.
 */
#ifndef GT_QEMU_RUN_STATE_H
#define GT_QEMU_RUN_STATE_H

#include "qemu/host.h"

/* False: this QEMU does not export the functions. */
bool gt_run_state_is_exported(void);

/* From now on fn is called on QEMU's main thread when the machine stops, or is about to run; a
 * second call changes fn. `clock`: the virtual clock in ns. */
void gt_run_state_watch(void (*fn)(enum gt_run_state state, uint64_t clock));

#endif
