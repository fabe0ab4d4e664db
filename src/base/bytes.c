/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bounded little-endian access: see bytes.h. */
#include "base/bytes.h"

#include <string.h>

void gt_bytes_reader_init(struct gt_bytes_reader *r, const void *data, size_t size)
{
    *r = (struct gt_bytes_reader){.at = data, .left = size};
}

const uint8_t *gt_bytes_read_bytes(struct gt_bytes_reader *r, size_t n)
{
    if (r->short_of || r->left < n) {
        r->short_of = true;
        return NULL;
    }
    const uint8_t *p = r->at;
    r->at += n;
    r->left -= n;
    return p;
}

static uint64_t read_le(struct gt_bytes_reader *r, size_t n)
{
    const uint8_t *p = gt_bytes_read_bytes(r, n);
    uint64_t v = 0;
    for (size_t i = 0; p && i < n; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

uint8_t gt_bytes_read_u8(struct gt_bytes_reader *r)
{
    return (uint8_t)read_le(r, 1);
}

uint16_t gt_bytes_read_u16(struct gt_bytes_reader *r)
{
    return (uint16_t)read_le(r, 2);
}

uint32_t gt_bytes_read_u32(struct gt_bytes_reader *r)
{
    return (uint32_t)read_le(r, 4);
}

uint64_t gt_bytes_read_u64(struct gt_bytes_reader *r)
{
    return read_le(r, 8);
}

void gt_bytes_writer_init(struct gt_bytes_writer *w, void *data, size_t size)
{
    *w = (struct gt_bytes_writer){.at = data, .left = size};
}

void gt_bytes_write_bytes(struct gt_bytes_writer *w, const void *data, size_t n)
{
    if (w->short_of || w->left < n) {
        w->short_of = true;
        return;
    }
    memcpy(w->at, data, n);
    w->at += n;
    w->left -= n;
}

static void write_le(struct gt_bytes_writer *w, uint64_t v, size_t n)
{
    uint8_t b[8];
    for (size_t i = 0; i < n; i++)
        b[i] = (uint8_t)(v >> (8 * i));
    gt_bytes_write_bytes(w, b, n);
}

void gt_bytes_write_u8(struct gt_bytes_writer *w, uint8_t v)
{
    write_le(w, v, 1);
}

void gt_bytes_write_u16(struct gt_bytes_writer *w, uint16_t v)
{
    write_le(w, v, 2);
}

void gt_bytes_write_u32(struct gt_bytes_writer *w, uint32_t v)
{
    write_le(w, v, 4);
}

void gt_bytes_write_u64(struct gt_bytes_writer *w, uint64_t v)
{
    write_le(w, v, 8);
}
