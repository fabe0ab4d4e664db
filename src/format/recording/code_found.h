/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * code.found: what a plugin recognised while a machine ran, a line a place:
 *   <module decimal> <offset hex>[ <function hex>]...
 * The module counts those of code.map from 0; link address + offset, modulo 2^64, is where it ran.
 * A module may be there several times. The functions, counted from 0 in the module, are those with
 * a pattern that were seen there.
 */
#ifndef GT_FORMAT_RECORDING_CODE_FOUND_H
#define GT_FORMAT_RECORDING_CODE_FOUND_H

#include "base/cursor.h"
#include "base/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Adds a line: its beginning, a function, its end. */
void gt_code_found_begin(struct gt_text *out, size_t module, uint64_t offset);
void gt_code_found_function(struct gt_text *out, size_t function);
void gt_code_found_end(struct gt_text *out);

/* One line, without its newline: *rest is where its functions are. False: it is none. */
bool gt_code_found_parse(const char *line, uint64_t *module, uint64_t *offset,
                         struct gt_cursor *rest);
/* The next function; false: there is no further one. */
bool gt_code_found_next(struct gt_cursor *rest, uint64_t *function);

#endif
