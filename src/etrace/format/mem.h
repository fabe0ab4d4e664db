/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inline encoders of packet headers and MEM packets, of which a recorder writes tens of millions a
 * second. etrace.c encodes the other packets. */
#ifndef GT_ETRACE_FORMAT_MEM_H
#define GT_ETRACE_FORMAT_MEM_H

#include "base/bytes.h"
#include "etrace/format/etrace.h"

enum { GT_ETRACE_MEM_SIZE = 40, GT_ETRACE_MEM_WRITE = 1 /* attribute bit: a store */ };

/* Writes a packet header; returns the place of the body. */
static inline uint8_t *gt_etrace_put_header(uint8_t *p, uint16_t type, uint16_t unit, uint32_t len)
{
    return gt_bytes_put32(gt_bytes_put16(gt_bytes_put16(p, type), unit), len);
}

/* Writes the body of a MEM packet; `to` has room for GT_ETRACE_MEM_SIZE bytes. */
static inline void gt_etrace_pack_mem(uint8_t *to, const struct gt_etrace_mem *mem)
{
    to = gt_bytes_put64(gt_bytes_put64(to, mem->time), mem->vaddr);
    to = gt_bytes_put64(gt_bytes_put64(to, mem->paddr), mem->value);
    gt_bytes_put32(gt_bytes_put32(to, mem->write ? GT_ETRACE_MEM_WRITE : 0),
                   mem->size); /* and the padding */
}

#endif
