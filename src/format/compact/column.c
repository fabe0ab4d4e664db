/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Columns: see column.h. */
#include "format/compact/column.h"

#include "format/compact/compact.h"

#include <stdlib.h>
#include <string.h>

enum { LEVEL = 1 }; /* zstd's */

bool gt_column_reserve(struct gt_column_out *c, size_t more)
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

bool gt_column_pack(const struct gt_column_out *c, ZSTD_CCtx *zstd, struct gt_column_out *payload)
{
    size_t bound = ZSTD_compressBound(c->n);
    if (!gt_column_reserve(payload, bound + 2 * GT_NUMBER_MAX))
        return false;
    uint8_t *to = payload->data + payload->n + 2 * GT_NUMBER_MAX;
    size_t packed = c->n ? ZSTD_compressCCtx(zstd, to, bound, c->data, c->n, LEVEL) : 0;
    bool raw = ZSTD_isError(packed) || packed >= c->n;
    size_t here = raw ? c->n : packed;
    gt_column_put(payload, c->n);
    gt_column_put(payload, raw ? 0 : packed);
    if (here)
        memmove(payload->data + payload->n, raw ? c->data : to, here);
    payload->n += here;
    return true;
}

uint64_t gt_column_take_long(struct gt_column_in *c)
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

int gt_column_open(struct gt_columns *c, int i, struct gt_column_in *payload, size_t most,
                   bool skip)
{
    uint64_t size = gt_column_take(payload), packed = gt_column_take(payload);
    uint64_t here = packed ? packed : size;
    if (payload->bad || size > most || here > (uint64_t)(payload->end - payload->at))
        return GT_E_FORMAT;
    const uint8_t *from = payload->at;
    payload->at += here;
    c->in[i] = (struct gt_column_in){from, from + here, false};
    if (!packed || skip)
        return 0;
    if (c->room[i] < size) {
        uint8_t *bytes = realloc(c->bytes[i], size);
        if (!bytes)
            return GT_E_NOMEM;
        c->bytes[i] = bytes;
        c->room[i] = size;
    }
    if (ZSTD_decompressDCtx(c->zstd, c->bytes[i], size, from, packed) != size)
        return GT_E_FORMAT;
    c->in[i] = (struct gt_column_in){c->bytes[i], c->bytes[i] + size, false};
    return 0;
}

int gt_columns_open(struct gt_columns *c, const void *payload, size_t size, size_t most)
{
    struct gt_column_in p = {payload, (const uint8_t *)payload + size, false};
    int status = 0;
    for (int i = 0; i < GT_COLUMNS && status == 0; i++)
        status = gt_column_open(c, i, &p, most, false);
    return status < 0 ? status : p.at == p.end ? 0 : GT_E_FORMAT;
}

void gt_columns_finish(struct gt_columns *c)
{
    for (int i = 0; i < GT_COLUMNS; i++)
        free(c->bytes[i]);
    ZSTD_freeDCtx(c->zstd);
}

bool gt_columns_are_done(const struct gt_columns *c)
{
    bool done = true;
    for (int i = 0; i < GT_COLUMNS; i++)
        done = done && !c->in[i].bad && c->in[i].at == c->in[i].end;
    return done;
}
