/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The chunks of a log that may have lines which are asked for, found by its index, or, where it has
 * none (its recording was killed), by the headers of its chunks; and reading only those.
 */
#ifndef GT_FORMAT_EXECLOG_SELECT_H
#define GT_FORMAT_EXECLOG_SELECT_H

#include "format/execlog/text.h"

struct gt_execlog_place {
    uint64_t offset;       /* of a chunk */
    uint32_t first, count; /* definitions: blocks */
    bool names;            /* definitions: there are others, too */
};

struct gt_execlog_selection {
    struct gt_execlog_place *events, *definitions;
    size_t n_events, n_definitions, cap_events, cap_definitions;
    bool whole;       /* the log has an end */
    uint64_t damaged; /* chunks that could not be looked at */
};

/* The reader's source must be able to seek, and have `size` bytes. What damage is seen is told by
 * *told, the first one, and left out. GT_E_IO, GT_E_NOMEM; GT_E_UNSUPPORTED: it cannot seek. */
int gt_execlog_select(struct gt_execlog_reader *r, uint64_t size, const struct gt_execlog_query *q,
                      struct gt_execlog_selection *out, struct gt_error *told,
                      struct gt_error *err);
/* gt_execlog_text_options.missing: learns the definitions that have a block. */
void gt_execlog_selection_learn(const struct gt_execlog_selection *s, struct gt_execlog_reader *r,
                                uint32_t id);
void gt_execlog_selection_free(struct gt_execlog_selection *s);

#endif
