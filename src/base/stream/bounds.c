/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where records are in a run: see bounds.h. */
#include "base/stream/bounds.h"

#include "base/stream/internal.h"

static uint32_t at_of(const struct gt_bounds *m, uint32_t i)
{
    return (uint32_t)m->end[-1 - (int64_t)i];
}

static uint32_t more_of(const struct gt_bounds *m, uint32_t i)
{
    return (uint32_t)(m->end[-1 - (int64_t)i] >> 32);
}

/* How many marks are of records that begin before `at`. */
static uint32_t marks_before(const struct gt_bounds *m, uint32_t at)
{
    uint32_t low = 0, high = m->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (at_of(m, middle) < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t gt_bounds_records(const struct gt_bounds *m, uint32_t from, uint32_t to)
{
    uint32_t bytes = to - from;
    for (uint32_t i = marks_before(m, from); i < m->n && at_of(m, i) < to; i++)
        bytes -= more_of(m, i);
    return bytes / GT_STREAM_RECORD;
}

uint32_t gt_bounds_whole(const struct gt_bounds *m, uint32_t at)
{
    uint32_t i = marks_before(m, at);
    if (!i)
        return at - at % GT_STREAM_RECORD;
    uint32_t begin = at_of(m, i - 1), end = begin + GT_STREAM_RECORD + more_of(m, i - 1);
    return at < end ? begin : at - (at - end) % GT_STREAM_RECORD;
}

uint32_t gt_bounds_skip(const struct gt_bounds *m, uint32_t from, uint32_t n)
{
    uint32_t i = marks_before(m, from);
    for (; n; n--) {
        bool marked = i < m->n && at_of(m, i) == from;
        from += GT_STREAM_RECORD + (marked ? more_of(m, i) : 0);
        i += marked;
    }
    return from;
}

bool gt_bounds_check(struct gt_bounds *m, uint32_t end)
{
    uint32_t at = 0, i = 0;
    for (; i < m->n && at_of(m, i) < end; i++) {
        uint32_t begin = at_of(m, i), more = more_of(m, i);
        if (begin < at || (begin - at) % GT_STREAM_RECORD || !more || more % sizeof(uint64_t) ||
            more > GT_STREAM_MORE_MOST)
            return false;
        at = begin + GT_STREAM_RECORD + more;
    }
    m->n = i;
    return at <= end && (end - at) % GT_STREAM_RECORD == 0;
}
