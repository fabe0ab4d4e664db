/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Little-endian numbers in memory whose bounds the caller has checked; gt_put* return the place
 * after the number. */
#ifndef GT_BASE_LE_H
#define GT_BASE_LE_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t gt_le16(const uint8_t *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return le16toh(v);
}

static inline uint32_t gt_le32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return le32toh(v);
}

static inline uint64_t gt_le64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return le64toh(v);
}

static inline uint8_t *gt_put16(uint8_t *p, uint16_t v)
{
    v = htole16(v);
    memcpy(p, &v, sizeof v);
    return p + sizeof v;
}

static inline uint8_t *gt_put32(uint8_t *p, uint32_t v)
{
    v = htole32(v);
    memcpy(p, &v, sizeof v);
    return p + sizeof v;
}

static inline uint8_t *gt_put64(uint8_t *p, uint64_t v)
{
    v = htole64(v);
    memcpy(p, &v, sizeof v);
    return p + sizeof v;
}

#endif
