/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values between records: see values.h. */
#include "analysis/calls/values.h"

#include "format/le.h"

enum { ALIGN = 8, MOST = 2048, MAGIC = 5, FIRST_EVENT = 100000 };
/* No record comes later than that after another one. */
#define LONGEST (UINT64_C(1) << 50)

static bool fits(const struct gt_values *v, uint64_t time, uint64_t word, uint64_t before)
{
    const uint32_t depth = (uint32_t)(word >> 6) & GT_UFTRACE_DEPTH_MASK;
    const uint64_t address = word >> 16, open = v->address[depth];
    if ((word >> 3 & 7) != MAGIC || time < before || time - before > LONGEST)
        return false;
    switch (word & 3) {
    case GT_UFTRACE_ENTRY:
        return depth == v->depth && address != 0;
    case GT_UFTRACE_EXIT:
        return ((depth + 1) & GT_UFTRACE_DEPTH_MASK) == v->depth && (open == address || open == 0);
    case GT_UFTRACE_EVENT:
        return address >= FIRST_EVENT && address <= UINT32_MAX;
    default:
        return address > 0;
    }
}

size_t gt_values_size(const struct gt_values *v, const uint8_t *data, size_t left, uint64_t time)
{
    for (size_t n = ALIGN; n <= MOST && n <= left; n += ALIGN) {
        if (left - n < GT_UFTRACE_RECORD_SIZE)
            return left; /* they end the file, which may be cut there */
        if (fits(v, gt_le64(data + n), gt_le64(data + n + 8), time))
            return n;
    }
    return SIZE_MAX;
}

void gt_values_scan(const uint8_t *data, size_t size, struct gt_values_scan *out)
{
    struct gt_values v = {0};
    *out = (struct gt_values_scan){0};
    while (size - out->whole >= GT_UFTRACE_RECORD_SIZE) {
        const uint8_t *at = data + out->whole;
        const uint64_t word = gt_le64(at + 8);
        size_t left = size - out->whole - GT_UFTRACE_RECORD_SIZE, values = 0;
        gt_values_note(&v, word);
        if (gt_values_follow(word))
            values = gt_values_size(&v, at + GT_UFTRACE_RECORD_SIZE, left, gt_le64(at));
        if (values > left) /* who reads the records reports it */
            return;
        out->records++;
        out->last = gt_le64(at);
        out->whole += GT_UFTRACE_RECORD_SIZE + values;
    }
}
