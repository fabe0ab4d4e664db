/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks a load offset against the code that ran: at the end of each range that ran there must be a
 * jump, and it must lead to the start of the next range. At a wrong offset that is true of few
 * ranges, by chance; at the right one of all, except those that an interrupt ended.
 */
#ifndef GT_NAMES_PLACEMENT_EVIDENCE_H
#define GT_NAMES_PLACEMENT_EVIDENCE_H

#include "names/image/symbol_source.h"

struct gt_place_evidence;

struct gt_place_evidence *gt_place_evidence_create(void);
/* Adds that [start, end) ran, and then the code at `next`, which is not `end`; 0: unknown. Each
 * range is kept once, up to a sufficient number. */
void gt_place_evidence_add(struct gt_place_evidence *e, uint64_t start, uint64_t end,
                           uint64_t next);
/* Adds a source that can be weighed; it must outlive the evidence. */
void gt_place_evidence_open(struct gt_place_evidence *e,
                            const struct gt_image_symbol_source *source);
/* For gt_place_entries.confirm: self is the evidence, `part` belongs to a source that was added.
 * Returns 1: it ran at the offset, 0: it did not, -1: the file has no code, or its architecture is
 * not supported. */
int gt_place_evidence_weigh(void *self, const struct gt_image_source_part *part, uint64_t offset);
void gt_place_evidence_destroy(struct gt_place_evidence *e);

#endif
