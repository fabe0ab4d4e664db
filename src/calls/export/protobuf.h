/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A writer of protocol buffers, into memory.
 *
 * A message is a series of fields: a varint of NUMBER << 3 | TYPE, then the value: a varint (type
 * 0), or a varint of the length and as many bytes (type 2: texts, messages, packed numbers). A
 * varint has 7 bits a byte, the lowest first, bit 7 set in all but the last. Lengths take as few
 * bytes as they can, so equal messages are equal bytes.
 *
 *   size_t m = gt_export_protobuf_begin(p, 3);     message 3 {
 *   gt_export_protobuf_u64(p, 1, 150);               1: 150
 *   gt_export_protobuf_end(p, m);                  }
 *
 * Fields of default value (0, "") are written too, if the caller does.
 */
#ifndef GT_CALLS_EXPORT_PROTOBUF_H
#define GT_CALLS_EXPORT_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* { 0 } is empty. The caller may set len to 0, and write again. */
struct gt_export_protobuf {
    uint8_t *data;
    size_t len, cap;
};

enum { GT_PROTOBUF_VARINT = 10 }; /* bytes of the longest */

/* For the functions below: makes the buffer larger, by at least n bytes. */
void gt_export_protobuf_grow(struct gt_export_protobuf *p, size_t n);
void gt_export_protobuf_free(struct gt_export_protobuf *p);
/* Ends a message that takes more than 127 bytes. */
void gt_export_protobuf_end_long(struct gt_export_protobuf *p, size_t begin);

static inline uint8_t *gt_export_protobuf_room(struct gt_export_protobuf *p, size_t n)
{
    if (p->cap - p->len < n)
        gt_export_protobuf_grow(p, n);
    return p->data + p->len;
}

static inline uint8_t *gt_export_protobuf_put(uint8_t *at, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *at++ = (uint8_t)(v | 0x80);
    *at++ = (uint8_t)v;
    return at;
}

/* A number alone: in packed fields. */
static inline void gt_export_protobuf_varint(struct gt_export_protobuf *p, uint64_t v)
{
    uint8_t *at = gt_export_protobuf_room(p, GT_PROTOBUF_VARINT);
    p->len = (size_t)(gt_export_protobuf_put(at, v) - p->data);
}

/* A field of any of the types int32, int64, uint32, uint64, bool, enum. */
static inline void gt_export_protobuf_u64(struct gt_export_protobuf *p, uint32_t field, uint64_t v)
{
    uint8_t *at = gt_export_protobuf_room(p, (size_t)2 * GT_PROTOBUF_VARINT);
    p->len = (size_t)(gt_export_protobuf_put(gt_export_protobuf_put(at, field << 3), v) - p->data);
}

/* The fields up to gt_export_protobuf_end are of a message in this field; a packed field has
 * varints there. Returns what gt_export_protobuf_end takes. */
static inline size_t gt_export_protobuf_begin(struct gt_export_protobuf *p, uint32_t field)
{
    uint8_t *at =
        gt_export_protobuf_put(gt_export_protobuf_room(p, GT_PROTOBUF_VARINT), field << 3 | 2);
    p->len = (size_t)(at + 1 - p->data); /* of the length, its first byte */
    return p->len;
}

static inline void gt_export_protobuf_end(struct gt_export_protobuf *p, size_t begin)
{
    if (p->len - begin < 0x80)
        p->data[begin - 1] = (uint8_t)(p->len - begin);
    else
        gt_export_protobuf_end_long(p, begin);
}

/* n bytes of any content. */
void gt_export_protobuf_bytes(struct gt_export_protobuf *p, uint32_t field, const void *data,
                              size_t n);
/* A string, which is UTF-8: U+FFFD stands for each byte that is not. */
void gt_export_protobuf_text(struct gt_export_protobuf *p, uint32_t field, const char *text);

#endif
