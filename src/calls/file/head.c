/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A block's head, GT_COMPACT_HEAD bytes, little-endian:
 *    0 u32 magic      4 u8 type      5 u8 flags    6 u16 0
 *    8 u32 payload   12 u32 CRC-32 of the payload
 *   16 u32 packer    20 u32 records
 *   24 u64 first time   32 u64 last time   40 u64 records before   48 12 bytes of 0
 *   60 u32 CRC-32 of the 60 bytes before
 */
#include "base/bytes.h"
#include "calls/file/compact.h"

#include <string.h>
#include <zlib.h>

#define MAGIC 0x6b6c4274u /* "tBlk" */
enum { PAYLOAD_CRC_AT = 12, CRC_AT = 60 };

static uint32_t checksum(const void *data, size_t size)
{
    return (uint32_t)crc32_z(0, data, size);
}

void gt_compact_head_write(uint8_t out[GT_COMPACT_HEAD], const struct gt_compact_head *head,
                           const void *payload)
{
    memset(out, 0, GT_COMPACT_HEAD);
    gt_bytes_put32(out, MAGIC);
    out[4] = head->type;
    out[5] = head->flags;
    gt_bytes_put32(out + 8, head->size);
    gt_bytes_put32(out + 16, head->packer);
    gt_bytes_put32(out + 20, head->records);
    gt_bytes_put64(out + 24, head->first_time);
    gt_bytes_put64(out + 32, head->last_time);
    gt_bytes_put64(out + 40, head->before);
    gt_bytes_put32(out + PAYLOAD_CRC_AT, checksum(payload, head->size));
    gt_bytes_put32(out + CRC_AT, checksum(out, CRC_AT));
}

int gt_compact_head_read(const void *data, size_t size, struct gt_compact_head *out)
{
    const uint8_t *p = data;
    if (size < GT_COMPACT_HEAD)
        return GT_E_TRUNC;
    *out = (struct gt_compact_head){.type = p[4],
                                    .flags = p[5],
                                    .size = gt_bytes_le32(p + 8),
                                    .packer = gt_bytes_le32(p + 16),
                                    .records = gt_bytes_le32(p + 20),
                                    .first_time = gt_bytes_le64(p + 24),
                                    .last_time = gt_bytes_le64(p + 32),
                                    .before = gt_bytes_le64(p + 40)};
    bool good =
        gt_bytes_le32(p) == MAGIC && gt_bytes_le32(p + CRC_AT) == checksum(p, CRC_AT) && out->type;
    good = good && out->size <= GT_COMPACT_MAX_PAYLOAD && out->records <= GT_COMPACT_MAX_RECORDS;
    return good ? 0 : GT_E_FORMAT;
}

bool gt_compact_head_fits(const uint8_t head[GT_COMPACT_HEAD], const void *payload, size_t size)
{
    struct gt_compact_head h;
    return gt_compact_head_read(head, GT_COMPACT_HEAD, &h) == 0 && h.size <= size &&
           gt_bytes_le32(head + PAYLOAD_CRC_AT) == checksum(payload, h.size);
}
