/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions that begin handlers, for readers: a set of addresses. Any thread may add. */
#ifndef GT_CALLS_RECORDER_OUTPUT_HANDLERS_H
#define GT_CALLS_RECORDER_OUTPUT_HANDLERS_H

#include "base/error.h"

#include <stdint.h>

struct gt_recorder;

enum { GT_HANDLERS = 4096 }; /* a power of two */

struct gt_recorder_handlers {
    uint64_t address[GT_HANDLERS]; /* by hash; 0: free. Atomic. */
};

/* A handler begins at the address, or has gone on in the function of that entry. Of more functions
 * than there is room for, the rest is left out. */
void gt_recorder_handlers_note(struct gt_recorder_handlers *h, uint64_t address);
/* The same, as a tracker's sink: `recorder` is one. */
void gt_recorder_handlers_begun(void *recorder, uint64_t address);
/* Writes them to GT_HANDLERS_FILE, if there are any. On the worker. Errors of
 * gt_file_replace_text. */
int gt_recorder_handlers_write(struct gt_recorder *r, struct gt_error *err);

#endif
