/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a block of a machine looks like a handler's first, at translation. A return whose address
 * was replaced leads anywhere; so may an interrupt before the block that it returns to. This says
 * which it was. With the lock.
 */
#ifndef GT_CALLS_RECORDER_TRANSLATE_HANDLER_FORM_H
#define GT_CALLS_RECORDER_TRANSLATE_HANDLER_FORM_H

#include "calls/recorder/translate/code.h"

/* True where a register of the vCPU leads handlers to the block, or, on hosts without registers,
 * where it has a handler's form. */
bool gt_translate_handler_is_likely(const struct gt_translate_block *t);

/* True for 16-bit code at the beginning of a page, where handlers of system management interrupts
 * begin, on hosts without registers, which tell more (run/vectors.h). */
bool gt_translate_handler_may_be_smi(const struct gt_translate_block *t);

#endif
