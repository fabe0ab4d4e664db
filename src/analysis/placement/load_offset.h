/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where code ran, from the addresses at which functions were entered.
 *
 * An offset is a candidate where it takes a function to an entry and is a multiple of the step in
 * which code is placed. Each candidate is as good as the number of entries that it explains. The
 * best one is believed only where chance would hardly do as well, where it explains half of what
 * was entered in its range, and twice as many as any other that would put the code across it.
 */
#ifndef GT_ANALYSIS_PLACEMENT_LOAD_OFFSET_H
#define GT_ANALYSIS_PLACEMENT_LOAD_OFFSET_H

#include "analysis/image/symbol_source.h"
#include "analysis/placement/entries.h"

struct gt_vote {
    uint64_t offset;        /* modulo 2^48 */
    size_t hits;            /* functions that were entered */
    size_t seen;            /* entries in the range of the code */
    double chance;          /* of code that is believed: how many such places chance would find, as
                             * a power of ten */
    uint64_t first, latest; /* link addresses of the lowest and the highest function hit */
};

/* 0 and *out; GT_E_NOT_FOUND: no clear winner, and err says what there is ("no clear place for
 * FILE: ..."); GT_E_NOMEM. */
int gt_vote(const struct gt_entries *entries, const struct gt_source_part *part,
            struct gt_vote *out, struct gt_error *err);

/* The part's link addresses, sorted by the bits that placing does not change, then by the others;
 * for free(). NULL: no memory. The same file votes in many processes: its `order` spares that. */
struct gt_vote_order *gt_vote_order(const struct gt_source_part *part);

/* True where one offset, which is known beforehand, is believed: code that is linked for an address
 * runs there or not at all, so a quarter of what was entered in its range is enough if it is not
 * little, as in a stripped file that knows some of its functions. *out is filled. */
bool gt_vote_at(const struct gt_entries *entries, const struct gt_source_part *part,
                uint64_t offset, struct gt_vote *out);

/* What the offset, which need not be the best, explains. */
void gt_vote_count(const struct gt_entries *entries, const struct gt_source_part *part,
                   uint64_t offset, struct gt_vote *out);

#endif
