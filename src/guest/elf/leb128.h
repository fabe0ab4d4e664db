/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DWARF's numbers of any length. Bits above the 64th are dropped. */
#ifndef GT_GUEST_ELF_LEB128_H
#define GT_GUEST_ELF_LEB128_H

#include "base/bytes.h"

/* Either kind; the last byte, and how many bits all have. */
static inline uint64_t gt_elf_read_leb(struct gt_bytes_reader *r, uint8_t *last, unsigned *bits)
{
    uint64_t value = 0;
    uint8_t byte;
    unsigned shift = 0;
    do {
        byte = gt_bytes_read_u8(r);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += shift < 64 ? 7 : 0;
    } while (byte & 0x80 && !r->short_of);
    *last = byte;
    *bits = shift;
    return value;
}

static inline uint64_t gt_elf_read_uleb(struct gt_bytes_reader *r)
{
    uint8_t last;
    unsigned bits;
    return gt_elf_read_leb(r, &last, &bits);
}

static inline int64_t gt_elf_read_sleb(struct gt_bytes_reader *r)
{
    uint8_t last;
    unsigned bits;
    uint64_t value = gt_elf_read_leb(r, &last, &bits);
    if (last & 0x40 && bits < 64)
        value |= UINT64_MAX << bits;
    return (int64_t)value;
}

/* A text that ends with a zero byte; NULL: none does. */
static inline const char *gt_elf_read_text(struct gt_bytes_reader *r)
{
    size_t n = 0;
    while (n < r->left && r->at[n])
        n++;
    if (n == r->left) {
        r->short_of = true;
        r->left = 0;
        return NULL;
    }
    return (const char *)gt_bytes_read_bytes(r, n + 1);
}

#endif
