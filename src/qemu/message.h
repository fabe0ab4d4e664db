/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages on a standard error that may become the guest's: see gt_host_message in host.h. */
#ifndef GT_QEMU_MESSAGE_H
#define GT_QEMU_MESSAGE_H

/* Remembers what standard error is, before a guest runs. */
void gt_message_init(void);

#endif
