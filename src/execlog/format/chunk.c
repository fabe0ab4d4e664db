/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Headers of chunks, both directions: see chunk.h. */
#include "execlog/format/chunk.h"

enum { CHECK_AT = GT_EXECLOG_HEAD - 4 };

const char gt_execlog_magic[8] = "GTEXECL\n";

uint32_t gt_execlog_check(uint32_t before, const void *data, size_t n)
{
    const uint8_t *p = data;
    uint32_t h = before ? before : 0x811c9dc5;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x01000193;
    return h;
}

static uint32_t check_of(const uint8_t *head, const uint8_t *summary, size_t n)
{
    return gt_execlog_check(gt_execlog_check(0, head, CHECK_AT), summary, n);
}

void gt_execlog_put_chunk(uint8_t *out, const struct gt_execlog_chunk *c, const uint8_t *summary)
{
    uint8_t *p = gt_put32(out, GT_EXECLOG_CHUNK);
    *p++ = c->type;
    *p++ = c->flags;
    p = gt_put16(p, 0);
    p = gt_put32(gt_put32(p, c->summary), c->packed);
    p = gt_put32(gt_put32(p, c->unpacked), c->vcpu);
    p = gt_put64(gt_put64(gt_put64(p, c->first), c->count), c->other);
    p = gt_put32(gt_put32(gt_put32(p, c->names), c->insn), 0);
    gt_put32(p, check_of(out, summary, c->summary));
}

bool gt_execlog_get_chunk(const uint8_t *in, struct gt_execlog_chunk *out)
{
    *out = (struct gt_execlog_chunk){
        .type = in[4],
        .flags = in[5],
        .summary = gt_le32(in + 8),
        .packed = gt_le32(in + 12),
        .unpacked = gt_le32(in + 16),
        .vcpu = gt_le32(in + 20),
        .first = gt_le64(in + 24),
        .count = gt_le64(in + 32),
        .other = gt_le64(in + 40),
        .names = gt_le32(in + 48),
        .insn = gt_le32(in + 52),
    };
    return gt_le32(in) == GT_EXECLOG_CHUNK && out->summary <= GT_EXECLOG_MAX_SUMMARY &&
           out->unpacked <= GT_EXECLOG_MAX_UNPACKED && out->packed <= GT_EXECLOG_MAX_PACKED &&
           out->vcpu < GT_EXECLOG_MAX_VCPUS;
}

bool gt_execlog_chunk_good(const uint8_t *in, const uint8_t *summary, size_t n)
{
    return gt_le32(in + CHECK_AT) == check_of(in, summary, n);
}
