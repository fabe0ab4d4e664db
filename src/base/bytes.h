/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bounded little-endian readers and writers over a caller's buffer.
 *
 * Both latch: the first access that does not fit sets `short_of`; from then on every read returns 0
 * and every write does nothing. So a codec reads or writes a whole item and checks once. The bound
 * is kept as the number of bytes left, never as a sum that could wrap.
 */
#ifndef GT_BASE_BYTES_H
#define GT_BASE_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct gt_bytes_reader {
    const uint8_t *at;
    size_t left;
    bool short_of; /* a read did not fit */
};

struct gt_bytes_writer {
    uint8_t *at;
    size_t left;
    bool short_of; /* a write did not fit */
};

void gt_bytes_reader_init(struct gt_bytes_reader *r, const void *data, size_t size);
uint8_t gt_bytes_read_u8(struct gt_bytes_reader *r);
uint16_t gt_bytes_read_u16(struct gt_bytes_reader *r);
uint32_t gt_bytes_read_u32(struct gt_bytes_reader *r);
uint64_t gt_bytes_read_u64(struct gt_bytes_reader *r);
/* Consumes the next n bytes and returns a pointer to them; NULL if fewer are left. */
const uint8_t *gt_bytes_read_bytes(struct gt_bytes_reader *r, size_t n);

void gt_bytes_writer_init(struct gt_bytes_writer *w, void *data, size_t size);
void gt_bytes_write_u8(struct gt_bytes_writer *w, uint8_t v);
void gt_bytes_write_u16(struct gt_bytes_writer *w, uint16_t v);
void gt_bytes_write_u32(struct gt_bytes_writer *w, uint32_t v);
void gt_bytes_write_u64(struct gt_bytes_writer *w, uint64_t v);
void gt_bytes_write_bytes(struct gt_bytes_writer *w, const void *data, size_t n);

/* Little-endian numbers in memory whose bounds the caller has checked; gt_bytes_put* return the
 * place after the number. */

static inline uint16_t gt_bytes_le16(const uint8_t *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return le16toh(v);
}

static inline uint32_t gt_bytes_le32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return le32toh(v);
}

static inline uint64_t gt_bytes_le64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return le64toh(v);
}

static inline uint8_t *gt_bytes_put16(uint8_t *p, uint16_t v)
{
    v = htole16(v);
    memcpy(p, &v, sizeof v);
    return p + sizeof v;
}

static inline uint8_t *gt_bytes_put32(uint8_t *p, uint32_t v)
{
    v = htole32(v);
    memcpy(p, &v, sizeof v);
    return p + sizeof v;
}

static inline uint8_t *gt_bytes_put64(uint8_t *p, uint64_t v)
{
    v = htole64(v);
    memcpy(p, &v, sizeof v);
    return p + sizeof v;
}

#endif
