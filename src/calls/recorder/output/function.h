/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The facts about a function that patterns ask for (filter/pattern.h). */
#ifndef GT_CALLS_RECORDER_OUTPUT_FUNCTION_H
#define GT_CALLS_RECORDER_OUTPUT_FUNCTION_H

#include "filter/pattern.h"
#include "qemu/support/modules.h"
#include "qemu/support/pages.h"

struct gt_recorder;

/* Of code at the address: where it is, and of which privilege level; NULL: that was not read. */
void gt_recorder_function_describe(const struct gt_recorder *r,
                                   const struct gt_support_module *module, uint64_t addr,
                                   const unsigned *level, struct gt_filter_function *out);
/* Adds the names and the size of a function with a symbol; without one it gets none. Texts live as
 * long as the arena and the module do. */
void gt_recorder_function_add_names(const struct gt_support_module *module,
                                    const struct gt_track_func *fn, struct gt_support_arena *arena,
                                    struct gt_filter_function *out);

#endif
