/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notes: the disassembly of code that is translated, registers where blocks begin. Readers print
 * notes as they are: each ends with a newline, and is cut where it is longer than half a buffer. */
#ifndef GT_ETRACE_PLUGIN_TEXT_H
#define GT_ETRACE_PLUGIN_TEXT_H

#include "etrace/plugin/block_cache.h"
#include "qemu/host.h"

/* Callback of translated code that may read registers, on the vCPU's thread: puts a note
 * "pc=0xADDRESS NAME=0xVALUE ...". */
void gt_etrace_on_block_registers(unsigned vcpu, void *block);
/* Puts a TB packet and a note for the block under translation, b: a line "0xADDRESS: BYTES  TEXT"
 * for each instruction. Takes the buffer's lock. */
void gt_etrace_put_code(struct gt_etrace *e, struct gt_host_block *block,
                        const struct gt_etrace_block *b);

#endif
