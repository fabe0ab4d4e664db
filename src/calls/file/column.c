/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Columns: see column.h. */
#include "calls/file/column.h"

#include "calls/file/compact.h"

#include <stdlib.h>
#include <string.h>

bool gt_compact_column_reserve(struct gt_compact_column_out *c, size_t more)
{
    if (c->room - c->n >= more)
        return true;
    size_t room = c->room ? c->room : 4096;
    while (room - c->n < more)
        room *= 2;
    uint8_t *data = realloc(c->data, room);
    if (!data)
        return false;
    c->data = data;
    c->room = room;
    return true;
}

bool gt_compact_column_pack(const struct gt_compact_column_out *c, ZSTD_CCtx *zstd, int level,
                            struct gt_compact_column_out *payload)
{
    size_t bound = ZSTD_compressBound(c->n);
    if (!gt_compact_column_reserve(payload, bound + 2 * GT_NUMBER_MAX))
        return false;
    uint8_t *to = payload->data + payload->n + 2 * GT_NUMBER_MAX;
    size_t packed = c->n ? ZSTD_compressCCtx(zstd, to, bound, c->data, c->n, level) : 0;
    bool raw = ZSTD_isError(packed) || packed >= c->n;
    size_t here = raw ? c->n : packed;
    gt_compact_column_put(payload, c->n);
    gt_compact_column_put(payload, raw ? 0 : packed);
    if (here)
        memmove(payload->data + payload->n, raw ? c->data : to, here);
    payload->n += here;
    return true;
}

uint64_t gt_compact_column_take_long(struct gt_compact_column_in *c)
{
    uint64_t v = 0;
    for (unsigned shift = 0; c->at < c->end; shift += 7) {
        uint64_t byte = *c->at++;
        if (shift == 7 * (GT_NUMBER_MAX - 1))
            return v | byte << shift;
        v |= (byte & 127) << shift;
        if (byte < 128)
            return v;
    }
    c->bad = true;
    return 0;
}

int gt_compact_column_find(struct gt_compact_column_in *payload, struct gt_compact_column_part *out)
{
    uint64_t size = gt_compact_column_take(payload), packed = gt_compact_column_take(payload);
    uint64_t here = packed ? packed : size;
    if (payload->bad || size > GT_COMPACT_MAX_PAYLOAD ||
        here > (uint64_t)(payload->end - payload->at))
        return GT_E_FORMAT;
    *out = (struct gt_compact_column_part){payload->at, (size_t)size, (size_t)packed};
    payload->at += here;
    return 0;
}

int gt_compact_column_unpack(const struct gt_compact_column_part *part, ZSTD_DCtx *zstd,
                             uint8_t *to, struct gt_compact_column_in *out)
{
    const uint8_t *bytes = part->packed ? to : part->from;
    *out = (struct gt_compact_column_in){bytes, bytes + part->size, false};
    if (part->packed &&
        ZSTD_decompressDCtx(zstd, to, part->size, part->from, part->packed) != part->size)
        return GT_E_FORMAT;
    return 0;
}

/* The i-th of the columns that are open. */
static struct gt_compact_column_in *column_at(struct gt_compact_columns *c, unsigned i)
{
    return &c->in[i < c->n ? i : GT_COLUMN_CODES + i - c->n];
}

static unsigned n_columns(const struct gt_compact_columns *c)
{
    return c->n + (c->values ? GT_COLUMNS - GT_COLUMN_CODES : 0);
}

int gt_compact_columns_open(struct gt_compact_columns *c, unsigned n, bool values,
                            const void *payload, size_t size, size_t most)
{
    struct gt_compact_column_in p = {payload, (const uint8_t *)payload + size, false};
    struct gt_compact_column_part part[GT_COLUMNS];
    size_t total = 0;
    int status = 0;
    c->n = n;
    c->values = values;
    n = n_columns(c);
    for (unsigned i = 0; i < n && status == 0; i++) {
        status = gt_compact_column_find(&p, &part[i]);
        if (status == 0 && part[i].size > most - total)
            status = GT_E_FORMAT;
        total += status == 0 ? part[i].size : 0;
    }
    if (status < 0 || p.at != p.end)
        return GT_E_FORMAT;
    if (c->room <= total) {
        free(c->bytes);
        c->room = total + 1;
        c->bytes = malloc(c->room);
    }
    if (!c->bytes) {
        c->room = 0;
        return GT_E_NOMEM;
    }
    uint8_t *to = c->bytes;
    for (unsigned i = 0; i < n && status == 0; to += part[i++].size)
        status = gt_compact_column_unpack(&part[i], c->zstd, to, column_at(c, i));
    return status;
}

void gt_compact_columns_finish(struct gt_compact_columns *c)
{
    free(c->bytes);
    ZSTD_freeDCtx(c->zstd);
}

bool gt_compact_columns_are_done(struct gt_compact_columns *c)
{
    bool done = true;
    for (unsigned i = 0; i < n_columns(c) && done; i++) {
        const struct gt_compact_column_in *in = column_at(c, i);
        done = !in->bad && in->at == in->end;
    }
    return done;
}
