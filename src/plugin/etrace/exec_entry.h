/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries of EXEC packets, as the hot path puts them: in place, without branches. */
#ifndef GT_PLUGIN_ETRACE_EXEC_ENTRY_H
#define GT_PLUGIN_ETRACE_EXEC_ENTRY_H

#include "base/page.h"
#include "plugin/etrace/etrace.h"

#include <string.h>

static inline size_t entry_size(bool wide)
{
    return wide ? 20 : 12;
}

static inline __attribute__((always_inline)) struct gt_etrace_entry entry_at(const uint8_t *at,
                                                                             bool wide)
{
    const size_t word = wide ? 8 : 4;
    struct gt_etrace_entry e = {0};
    memcpy(&e.duration, at, sizeof e.duration);
    memcpy(&e.start, at + 4, word);
    memcpy(&e.end, at + 4 + word, word);
    return e;
}

static inline __attribute__((always_inline)) void
put_entry(uint8_t *at, const struct gt_etrace_entry *e, bool wide)
{
    const size_t word = wide ? 8 : 4;
    memcpy(at, &e->duration, sizeof e->duration);
    memcpy(at + 4, &e->start, word);
    memcpy(at + 4 + word, &e->end, word);
}

/* What gt_etrace_run_add does to the newest entry: it is made longer by the block, or is the block.
 * Which of them cannot be predicted: no branches. With instructions for a clock no sum passes 32
 * bits, since they lie in one page. All ones: it is longer now; 0: it is the block. */
static inline __attribute__((always_inline)) uint64_t
join(struct gt_etrace_entry *newest, const struct gt_etrace_block *b, bool wide)
{
    uint64_t start = wide ? b->start : (uint32_t)b->start;
    uint64_t end = wide ? b->end : (uint32_t)b->end;
    uint64_t first = newest->start, last = newest->end;
    uint64_t pages = (start ^ end) | (first ^ last);
    uint64_t joins =
        -(uint64_t)((start == last) & (start < end) & (first < last) & !(pages >> GT_PAGE_BITS));
    newest->duration = b->insns + (newest->duration & (uint32_t)joins);
    newest->start = start ^ ((start ^ first) & joins);
    newest->end = end;
    return joins;
}

#endif
