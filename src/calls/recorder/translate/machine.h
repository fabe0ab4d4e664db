/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Machines: the callbacks that a block has for other things than calls and returns. With the lock.
 */
#ifndef GT_CALLS_RECORDER_TRANSLATE_MACHINE_H
#define GT_CALLS_RECORDER_TRANSLATE_MACHINE_H

#include "calls/recorder/translate/code.h"
#include "track/track.h"

/* Before all others: where the machine begins, and where hypervisors enter and leave guests. */
void gt_translate_machine_watch_first(const struct gt_translate_block *t, struct gt_code *code);

/* After them: at exception returns, at system calls, at loads and stores of the stack pointer, and
 * where a Linux kernel switches or names threads. */
void gt_translate_machine_watch(const struct gt_translate_block *t, struct gt_code *code);

#endif
