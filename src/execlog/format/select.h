/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Selects the chunks of a log that may have lines of a query, by the log's index or, if it has none
 * (the recording was killed), by the headers of its chunks; only those need to be read.
 */
#ifndef GT_EXECLOG_FORMAT_SELECT_H
#define GT_EXECLOG_FORMAT_SELECT_H

#include "execlog/format/text.h"

struct gt_execlog_chunk_ref {
    uint64_t offset; /* offset of the chunk */
    uint64_t first;  /* number of its first line or, of definitions, block */
    uint32_t count;  /* lines or blocks */
    bool names;      /* definitions: of devices and registers as well */
};

struct gt_execlog_selection {
    struct gt_execlog_chunk_ref *events, *definitions;
    size_t n_events, n_definitions, cap_events, cap_definitions;
    bool whole;       /* the log has an END */
    uint64_t damaged; /* chunks that could not be read */
};

/* The reader's source must be able to seek and have `size` bytes. Damaged chunks are left out, and
 * *first_damage gets the first damage. GT_E_IO, GT_E_NOMEM; GT_E_UNSUPPORTED: the source cannot
 * seek. */
int gt_execlog_select(struct gt_execlog_reader *r, uint64_t size, const struct gt_execlog_query *q,
                      struct gt_execlog_selection *out, struct gt_error *first_damage,
                      struct gt_error *err);
/* For gt_execlog_text_options.missing: reads the definitions that contain the block. */
void gt_execlog_selection_learn(const struct gt_execlog_selection *s, struct gt_execlog_reader *r,
                                uint32_t id);
void gt_execlog_selection_free(struct gt_execlog_selection *s);

#endif
