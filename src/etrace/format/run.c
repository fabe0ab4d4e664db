/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collecting execution entries into an EXEC packet: see etrace.h.
 *
 *   header, u64 start_time, entries: u32 duration, then start and end of 8 bytes each, of 4 each
 *   for a guest of 32 bits
 *
 * An entry begins at the end time of the previous one. An entry whose duration exceeds 32 bits is
 * followed by empty ones, [end, end), for the rest of its time, so that no code seems to run twice.
 */
#include "base/page.h"
#include "etrace/format/internal.h"

enum { FIRST_ENTRY = GT_ETRACE_HEADER + GT_ETRACE_EXEC_SIZE };

void gt_etrace_run_init(struct gt_etrace_run *r, void *packet, size_t room, uint16_t unit,
                        unsigned bits)
{
    *r = (struct gt_etrace_run){
        .packet = packet, .room = room, .unit = unit, .bits = bits == 32 ? 32 : 64};
}

static bool in_one_page(uint64_t start, uint64_t end)
{
    return start < end && (start ^ end) >> GT_PAGE_BITS == 0;
}

/* Whether [start, end) could be made part of the newest entry, and was. */
static bool merge(struct gt_etrace_run *r, uint64_t start, uint64_t end, uint64_t duration)
{
    uint8_t *newest = r->packet + r->fill - gt_etrace_entry_size(r->bits);
    uint64_t sum = gt_le32(newest) + duration;
    bool wide = r->bits == 64;
    uint64_t first = wide ? gt_le64(newest + 4) : gt_le32(newest + 4);
    uint64_t last = wide ? gt_le64(newest + 12) : gt_le32(newest + 8);
    if (start != last || sum > UINT32_MAX || !in_one_page(start, end) || !in_one_page(first, last))
        return false;
    gt_put32(newest, (uint32_t)sum);
    if (wide)
        gt_put64(newest + 12, end);
    else
        gt_put32(newest + 8, (uint32_t)end);
    r->end_time += duration;
    return true;
}

static void append(struct gt_etrace_run *r, uint64_t start, uint64_t end, uint32_t duration)
{
    uint8_t *p = gt_put32(r->packet + r->fill, duration);
    if (r->bits == 32)
        gt_put32(gt_put32(p, (uint32_t)start), (uint32_t)end);
    else
        gt_put64(gt_put64(p, start), end);
    r->fill += gt_etrace_entry_size(r->bits);
    r->end_time += duration;
}

/* How many entries the duration needs; no more than a packet can have: the rest of the time is then
 * left out, and the next entry begins a packet. */
static size_t entries_for(const struct gt_etrace_run *r, uint64_t duration)
{
    uint64_t most = (r->room - FIRST_ENTRY) / gt_etrace_entry_size(r->bits);
    uint64_t n = duration ? (duration - 1) / UINT32_MAX + 1 : 1;
    return (size_t)(n < most ? n : most);
}

bool gt_etrace_run_add(struct gt_etrace_run *r, uint64_t start, uint64_t end, uint64_t time,
                       uint64_t until)
{
    uint64_t duration = until > time ? until - time : 0;
    if (r->bits == 32) {
        start = (uint32_t)start;
        end = (uint32_t)end;
    }
    if (r->fill) {
        if (time != r->end_time)
            return false;
        if (merge(r, start, end, duration))
            return true;
    }
    size_t n = entries_for(r, duration), size = gt_etrace_entry_size(r->bits);
    if (r->fill && r->room - r->fill < n * size)
        return false;
    if (!r->fill) {
        gt_put64(r->packet + GT_ETRACE_HEADER, time);
        r->fill = FIRST_ENTRY;
        r->end_time = time;
    }
    for (; n > 0; n--) {
        uint32_t part = duration < UINT32_MAX ? (uint32_t)duration : UINT32_MAX;
        append(r, start, end, part);
        duration -= part;
        start = end;
    }
    return true;
}

size_t gt_etrace_run_take(struct gt_etrace_run *r)
{
    size_t size = r->fill;
    if (size)
        gt_put_header(r->packet, GT_ETRACE_EXEC, r->unit, (uint32_t)(size - GT_ETRACE_HEADER));
    r->fill = 0;
    return size;
}
