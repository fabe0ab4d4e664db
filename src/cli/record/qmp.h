/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events of a machine's QEMU (RESET, GUEST_PANICKED, ...), over a QMP socket of our own.
 *
 * QEMU connects to it, in a private folder, because a file says so that -readconfig names: there a
 * monitor takes nothing from the user's, unlike -qmp, without which -nographic has a monitor on the
 * console. The machine's devices are the same. Once QEMU is connected, the folder is removed.
 */
#ifndef GT_CLI_RECORD_QMP_H
#define GT_CLI_RECORD_QMP_H

#include "base/error.h"

#include <poll.h>

struct gt_record_qmp;

/* Before QEMU starts. GT_E_IO and others: no folder or no socket. `event` gets the name of each
 * event. Free *out with gt_record_qmp_free. */
int gt_record_qmp_open(struct gt_record_qmp **out, void (*event)(void *self, const char *name),
                       void *self, struct gt_error *err);
/* The value of -readconfig. */
const char *gt_record_qmp_config(const struct gt_record_qmp *q);
/* What to wait for, and what to do then: as struct gt_record_child_output has them. */
void gt_record_qmp_wants(void *qmp, struct pollfd *p);
void gt_record_qmp_ready(void *qmp);
void gt_record_qmp_free(struct gt_record_qmp *q); /* NULL is fine */

#endif
