/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries of EXEC packets, as the hot path puts them: in place, without branches. `wide`: the
 * guest's addresses have 64 bits; constant where these functions are inlined. */
#ifndef GT_ETRACE_PLUGIN_EXEC_ENTRY_H
#define GT_ETRACE_PLUGIN_EXEC_ENTRY_H

#include "base/page.h"
#include "etrace/format/etrace.h"
#include "etrace/plugin/block_cache.h"

#include <string.h>

static inline __attribute__((always_inline)) struct gt_etrace_entry
gt_etrace_exec_load(const uint8_t *at, bool wide)
{
    const size_t word = wide ? 8 : 4;
    struct gt_etrace_entry e = {0};
    memcpy(&e.duration, at, sizeof e.duration);
    memcpy(&e.start, at + 4, word);
    memcpy(&e.end, at + 4 + word, word);
    return e;
}

static inline __attribute__((always_inline)) void
gt_etrace_exec_store(uint8_t *at, const struct gt_etrace_entry *e, bool wide)
{
    const size_t word = wide ? 8 : 4;
    memcpy(at, &e->duration, sizeof e->duration);
    memcpy(at + 4, &e->start, word);
    memcpy(at + 4 + word, &e->end, word);
}

/* What gt_etrace_run_add does to the newest entry: the block extends it, or replaces it in
 * `newest`. Which of the two cannot be predicted: no branches. With instructions for a clock no sum
 * passes 32 bits, since they lie in one page. Returns all ones: the entry is extended; 0: `newest`
 * is the next entry. */
static inline __attribute__((always_inline)) uint64_t
gt_etrace_exec_join(struct gt_etrace_entry *newest, const struct gt_etrace_block *b, bool wide)
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
