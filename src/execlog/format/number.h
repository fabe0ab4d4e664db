/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the numbers that gt_execlog_put_number writes: seven bits a byte, the low bits first. */
#ifndef GT_EXECLOG_FORMAT_NUMBER_H
#define GT_EXECLOG_FORMAT_NUMBER_H

#include "base/bytes.h"

/* Latches if the bytes end, or the number exceeds 64 bits. */
static inline uint64_t gt_execlog_get_number(struct gt_reader *r)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = gt_read_u8(r);
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return v;
    }
    r->short_of = true;
    return 0;
}

#endif
