/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One record of a TID.dat file: u64 time, then u64 of type (2 bits), more (1), magic 5 (3),
 * depth (10), address (48).
 */
#include "recording/directory/dir_internal.h"

enum { MORE_SHIFT = 2, MAGIC_SHIFT = 3, MAGIC = 5, DEPTH_SHIFT = 6, ADDR_SHIFT = 16 };

int gt_uftrace_record_read(struct gt_reader *r, bool with_more, struct gt_uftrace_record *out)
{
    if (!r->left)
        return 0;
    if (r->left < GT_UFTRACE_RECORD_SIZE)
        return GT_E_TRUNC;
    uint64_t time = gt_read_u64(r);
    uint64_t word = gt_read_u64(r);
    bool more = word >> MORE_SHIFT & 1;
    if ((word >> MAGIC_SHIFT & 7) != MAGIC || time == 0 || (more && !with_more))
        return GT_E_FORMAT;
    *out = (struct gt_uftrace_record){
        .time = time,
        .addr = word >> ADDR_SHIFT,
        .depth = word >> DEPTH_SHIFT & GT_UFTRACE_DEPTH_MASK,
        .type = word & 3,
        .more = more,
    };
    return 1;
}

/* Bytes that follow an event's record; 0: not an event with a payload. */
static size_t payload(const struct gt_uftrace_record *rec)
{
    if (rec->type != GT_UFTRACE_EVENT)
        return 0;
    if (rec->addr == GT_UFTRACE_EV_PMU_CYCLE_BEGIN || rec->addr == GT_UFTRACE_EV_PMU_CYCLE_END)
        return 16;
    return rec->addr == GT_UFTRACE_EV_WATCH_CPU ? 8 : 0;
}

/* Takes the values of a call's record, up to the next one. Those that end the file may be cut:
 * whole ones have a multiple of 8 bytes. */
static int take_values(struct gt_reader *r, const struct gt_skipped *values, uint64_t time)
{
    if (r->left < 8)
        return GT_E_TRUNC;
    size_t n = gt_skipped_size(values, r->at, r->left, time);
    if (n == SIZE_MAX)
        return GT_E_FORMAT;
    return n % 8 == 0 && gt_read_bytes(r, n) ? 1 : GT_E_TRUNC;
}

static int take_payload(struct gt_reader *r, const struct gt_uftrace_record *rec)
{
    size_t extra = payload(rec);
    if (!extra)
        return GT_E_FORMAT;
    return gt_read_bytes(r, extra) ? 1 : GT_E_TRUNC;
}

int gt_uftrace_record_take(struct gt_reader *r, struct gt_skipped *values,
                           struct gt_uftrace_record *out)
{
    struct gt_reader at = *r;
    int status = gt_uftrace_record_read(&at, true, out);
    if (status != 1)
        return status;
    gt_skipped_note(values, gt_uftrace_word(out->type & 3, out->depth, out->addr));
    if (out->more)
        status = out->type == GT_UFTRACE_EVENT ? take_payload(&at, out)
                                               : take_values(&at, values, out->time);
    if (status == 1)
        *r = at;
    return status;
}

void gt_uftrace_record_write(struct gt_writer *w, const struct gt_uftrace_record *rec)
{
    gt_write_u64(w, rec->time);
    gt_write_u64(w, gt_uftrace_word((enum gt_uftrace_type)(rec->type & 3), rec->depth, rec->addr) |
                        (uint64_t)rec->more << MORE_SHIFT);
}
