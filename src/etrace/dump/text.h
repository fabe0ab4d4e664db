/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The items of an etrace stream as text, a line each:
 *
 *   guest arch=<machine> <bits>bit[ big-endian]
 *   E<unit> <start hex> <end hex>[ <function>]
 *   M<unit> <time> r|w <paddr hex> <value hex>
 *   EV <time> <unit> <device>.<event> <value>
 *
 * Notes are printed unchanged, except for control characters. Times and values of events are
 * decimal; a machine without a name is printed as its e_machine number.
 */
#ifndef GT_ETRACE_DUMP_TEXT_H
#define GT_ETRACE_DUMP_TEXT_H

#include "base/output.h"
#include "etrace/dump/names.h"
#include "etrace/format/etrace.h"

void gt_etrace_dump_arch(struct gt_output *o, const struct gt_etrace_arch *arch);
/* `names` may have no files. */
void gt_etrace_dump_exec(struct gt_output *o, uint16_t unit, const struct gt_etrace_exec *x,
                         struct gt_etrace_names *names);
void gt_etrace_dump_mem(struct gt_output *o, uint16_t unit, const struct gt_etrace_mem *mem);
void gt_etrace_dump_event(struct gt_output *o, const struct gt_etrace_event *event);

#endif
