/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages on a standard error that the guest may close or replace: see gt_host_message in host.h.
 *
 */
#ifndef GT_QEMU_MESSAGE_H
#define GT_QEMU_MESSAGE_H

#include <signal.h>

/* Remembers the file of standard error; call it before the guest runs. */
void gt_qemu_message_init(void);

/* Around a write on a guest's thread: the signals that it may raise are not the guest's. */
struct gt_qemu_held_signals {
    sigset_t mask; /* before */
    sigset_t own;  /* those that were not pending before */
};
void gt_qemu_signals_hold(struct gt_qemu_held_signals *h);
void gt_qemu_signals_release(const struct gt_qemu_held_signals *h);

#endif
