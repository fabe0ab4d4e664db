/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Translation: which callbacks and inline operations a block gets. */
#ifndef GT_ETRACE_PLUGIN_CODE_H
#define GT_ETRACE_PLUGIN_CODE_H

#include "qemu/host.h"

/* Callbacks of the host; `self` is the recorder. on_flush: no translated code refers to a block any
 * more, and no vCPU runs. */
void gt_etrace_on_translate(void *self, struct gt_host_block *block);
void gt_etrace_on_flush(void *self);

#endif
