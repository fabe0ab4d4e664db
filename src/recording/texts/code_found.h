/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * code.found: the code that the plugin recognised while a machine ran, one line for each place:
 *   <module decimal> <offset hex>[ <function hex>]...
 * <module> is an index into the modules of code.map; the module ran at link address + offset,
 * modulo 2^64. A module may have several lines. <function> is an index into the module's functions:
 * one with a pattern that was seen there.
 */
#ifndef GT_RECORDING_TEXTS_CODE_FOUND_H
#define GT_RECORDING_TEXTS_CODE_FOUND_H

#include "base/cursor.h"
#include "base/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Append a line: its beginning, a function, its end. */
void gt_recording_code_found_begin(struct gt_text *out, size_t module, uint64_t offset);
void gt_recording_code_found_function(struct gt_text *out, size_t function);
void gt_recording_code_found_end(struct gt_text *out);

/* Parses a line without its newline; *rest is set to its functions. False: invalid. */
bool gt_recording_code_found_parse(const char *line, uint64_t *module, uint64_t *offset,
                                   struct gt_text_cursor *rest);
/* Reads the next function; false: there is no further one. */
bool gt_recording_code_found_next(struct gt_text_cursor *rest, uint64_t *function);

#endif
