/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often a range of code ran (flags=coverage): an event of the device "coverage" whose name is
 * the range, "0xSTART-0xEND". Its value is the count so far; its previous value is the count that
 * the stream reported for that range before.
 */
#ifndef GT_ETRACE_FORMAT_COUNT_H
#define GT_ETRACE_FORMAT_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#define GT_ETRACE_COUNT_DEVICE "coverage"

enum { GT_ETRACE_COUNT_NAME = 40 }; /* bytes, with the NUL */

void gt_etrace_count_name(char name[GT_ETRACE_COUNT_NAME], uint64_t start, uint64_t end);
/* False: not such a name, or the range ends before it begins. */
bool gt_etrace_count_parse(const char *name, uint64_t *start, uint64_t *end);

#endif
