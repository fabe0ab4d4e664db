/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of a recording that were met: they get an index each, and keep it and their place
 * in memory. One thread at a time may add; any may read. */
#ifndef GT_CALLS_READ_FUNCTIONS_H
#define GT_CALLS_READ_FUNCTIONS_H

#include "calls/read/calls.h"
#include "calls/read/pairs.h"

enum { GT_FUNCTIONS_FIRST = 1024, GT_FUNCTIONS_CHUNKS = 22 };

struct gt_calls_functions {
    struct gt_calls_function *chunk[GT_FUNCTIONS_CHUNKS]; /* each twice as long as the one before */
    uint32_t n;
    struct gt_calls_pairs index; /* by module and address, see gt_calls_functions_add */
};

void gt_calls_functions_finish(struct gt_calls_functions *f); /* { 0 } is fine */
/* The index of the function of that module and address, which is added where it is new: *added is
 * its entry then, to be filled in; it counts from gt_calls_functions_publish on. GT_PAIRS_NONE: no
 * memory. */
uint32_t gt_calls_functions_add(struct gt_calls_functions *f, uint32_t module, uint64_t address,
                                struct gt_calls_function **added);
void gt_calls_functions_publish(struct gt_calls_functions *f);
size_t gt_calls_functions_count(const struct gt_calls_functions *f);
/* `index` is below the count. */
const struct gt_calls_function *gt_calls_functions_at(const struct gt_calls_functions *f,
                                                      uint32_t index);

#endif
