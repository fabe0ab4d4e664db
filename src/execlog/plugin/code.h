/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Translation. A block with lines gets one callback where it begins; where each line does, the
 * translated code stores how many have begun: an instruction that faults has. Where the host has no
 * such stores, where registers are checked, and for a block of one line, each line has a callback.
 */
#ifndef GT_EXECLOG_PLUGIN_CODE_H
#define GT_EXECLOG_PLUGIN_CODE_H

#include "qemu/host.h"

/* Callback of the host; `self` is the recorder. */
void gt_exlog_on_translate(void *self, struct gt_block *block);

#endif
