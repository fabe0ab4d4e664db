/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values between records: see skipped.h. */
#include "recording/directory/skipped.h"

#include "base/bytes.h"

enum { ALIGN = 8, MOST = GT_SKIPPED_MOST, MAGIC = 5, FIRST_EVENT = 100000 };
/* No record comes later than that after another one. */
#define LONGEST (UINT64_C(1) << 50)

static bool is_record(uint64_t time, uint64_t word, uint64_t before)
{
    return (word >> 3 & 7) == MAGIC && time >= before && time - before <= LONGEST;
}

static bool fits(const struct gt_uftrace_skipped *v, uint64_t time, uint64_t word, uint64_t before)
{
    const uint32_t depth = (uint32_t)(word >> 6) & GT_UFTRACE_DEPTH_MASK;
    const uint64_t address = word >> 16, open = v->address[depth];
    if (!is_record(time, word, before))
        return false;
    switch (word & 3) {
    case GT_UFTRACE_ENTRY:
        return depth == v->depth && address != 0;
    case GT_UFTRACE_EXIT:
        return ((depth + 1) & GT_UFTRACE_DEPTH_MASK) == v->depth && (open == address || open == 0);
    case GT_UFTRACE_EVENT:
        return address >= FIRST_EVENT && address <= UINT32_MAX;
    default:
        return address > 0 && depth == 0;
    }
}

/* After a record at `data`, which has no values, comes another one, or the file's end. */
static bool is_followed(const uint8_t *data, size_t left)
{
    const uint64_t word = gt_bytes_le64(data + 8);
    return gt_uftrace_skipped_follow(word) || left < 2 * GT_UFTRACE_RECORD_SIZE ||
           is_record(gt_bytes_le64(data + 16), gt_bytes_le64(data + 24), gt_bytes_le64(data));
}

size_t gt_uftrace_skipped_size(const struct gt_uftrace_skipped *v, const uint8_t *data, size_t left,
                               uint64_t time)
{
    for (size_t n = ALIGN; n <= MOST && n <= left; n += ALIGN) {
        if (left - n < GT_UFTRACE_RECORD_SIZE)
            return left; /* they end the file, which may be cut there */
        if (fits(v, gt_bytes_le64(data + n), gt_bytes_le64(data + n + 8), time) &&
            is_followed(data + n, left - n))
            return n;
    }
    return SIZE_MAX;
}

/* A record stands there, or nothing more. */
static bool is_end(const uint8_t *data, size_t left, uint64_t time)
{
    return left < GT_UFTRACE_RECORD_SIZE ||
           is_record(gt_bytes_le64(data), gt_bytes_le64(data + 8), time);
}

size_t gt_uftrace_skipped_take(const struct gt_uftrace_skipped *v, const struct gt_value_spec *spec,
                               const struct gt_uftrace_record *r, const uint8_t *data, size_t left,
                               struct gt_value_list *list)
{
    const bool entry = r->type == GT_UFTRACE_ENTRY, call = entry || r->type == GT_UFTRACE_EXIT;
    const size_t known = call ? gt_values_get_of(spec, entry, data, left, list) : 0;
    if (known && is_end(data + known, left - known, r->time))
        return known;
    const size_t size = gt_uftrace_skipped_size(v, data, left, r->time);
    if (known && size == SIZE_MAX)
        return known;
    list->n = 0;
    return size;
}

void gt_uftrace_skipped_scan(const uint8_t *data, size_t size,
                             const struct gt_uftrace_skipped_known *known,
                             struct gt_uftrace_skipped_scan *out)
{
    struct gt_uftrace_skipped v = {0};
    struct gt_value_list list;
    *out = (struct gt_uftrace_skipped_scan){0};
    while (size - out->whole >= GT_UFTRACE_RECORD_SIZE) {
        const uint8_t *at = data + out->whole;
        const uint64_t time = gt_bytes_le64(at), word = gt_bytes_le64(at + 8);
        const struct gt_uftrace_record r = gt_uftrace_record_of(time, word);
        size_t left = size - out->whole - GT_UFTRACE_RECORD_SIZE, values = 0;
        gt_uftrace_skipped_note(&v, word);
        if (gt_uftrace_skipped_follow(word))
            values = gt_uftrace_skipped_take(&v, known->spec(known->self, time, word), &r,
                                             at + GT_UFTRACE_RECORD_SIZE, left, &list);
        if (values > left) /* who reads the records reports it */
            return;
        if (known->record && known->record(known->self, time, word) < 0)
            return;
        out->records++;
        out->last = time;
        out->whole += GT_UFTRACE_RECORD_SIZE + values;
    }
}
