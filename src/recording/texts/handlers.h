/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest-handlers.txt: the functions that stood where a handler of an interrupt, an exception, a
 * system call or a signal stands; one line each:
 *   <address hexadecimal>
 * as in records, of 48 bits: of a function's entry, or of the place in it where the handler began.
 * A handler that goes on by a jump to another function has both.
 */
#ifndef GT_RECORDING_TEXTS_HANDLERS_H
#define GT_RECORDING_TEXTS_HANDLERS_H

#include "base/file.h"

#include <stdbool.h>
#include <stdint.h>

/* Appends the address's line. */
void gt_recording_handler_put(struct gt_text *out, uint64_t address);
/* Parses a line without its newline. False: invalid. */
bool gt_recording_handler_parse(const char *line, uint64_t *address);
/* Calls `take` with the address of each valid line of a whole file, which it changes. */
void gt_recording_handlers_parse(char *text, void (*take)(void *self, uint64_t address),
                                 void *self);

#endif
