/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether code ran at a place, by the code itself: where a stretch that ran ends, its last
 * instruction jumps, and to where the next stretch began. At a wrong place that is so by chance
 * only, of few stretches; at the right one of all, but for those that an interrupt ended.
 */
#ifndef GT_ANALYSIS_PLACEMENT_EVIDENCE_H
#define GT_ANALYSIS_PLACEMENT_EVIDENCE_H

#include "analysis/image/symbol_source.h"

struct gt_evidence;

struct gt_evidence *gt_evidence_create(void);
/* [start, end) ran, and then `next`, which is not `end`; 0: not known. Stretches are kept once, and
 * no more than are enough. */
void gt_evidence_add(struct gt_evidence *e, uint64_t start, uint64_t end, uint64_t next);
/* A source that is asked about; it lives as long as this. */
void gt_evidence_open(struct gt_evidence *e, const struct gt_symbol_source *source);
/* self is the evidence, the part one of such a source: 1 where it ran at the
 * offset, 0 where it did not; -1: the file has no code, or we know nothing of its instructions. */
int gt_evidence_weigh(void *self, const struct gt_source_part *part, uint64_t offset);
void gt_evidence_destroy(struct gt_evidence *e);

#endif
