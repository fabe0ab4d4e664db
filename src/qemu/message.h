/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages on a standard error that the guest may close or replace: see gt_host_message in host.h.
 *
 */
#ifndef GT_QEMU_MESSAGE_H
#define GT_QEMU_MESSAGE_H

/* Remembers the file of standard error; call it before the guest runs. */
void gt_message_init(void);

#endif
