/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the file of a ring: see flight_ring.h. */
#include "calls/file/flight_ring.h"
#include "calls/file/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool gt_compact_flight_path(const char *dir, uint32_t number, char *path, size_t room)
{
    return snprintf(path, room, "%s/.guesttrace-%u.last", dir, number) < (int)room;
}

bool gt_compact_flight_is_ring(const char *name, uint32_t *number)
{
    char whole[40];
    if (sscanf(name, ".guesttrace-%u.last", number) != 1)
        return false;
    snprintf(whole, sizeof whole, ".guesttrace-%u.last", *number);
    return strcmp(name, whole) == 0;
}

/* ---- what counts --------------------------------------------------------------------------- */

/* The last of the records that heads say. */
static uint64_t last_record(const struct gt_compact_file *f, uint32_t number)
{
    uint64_t last = 0;
    for (size_t i = 0; i < f->n; i++) {
        const struct gt_compact_head *h = &f->block[i].head;
        if (h->type == GT_COMPACT_RECORDS && h->packer == number)
            last = h->before + h->records > last ? h->before + h->records : last;
    }
    return last;
}

/* Keeps the packer's blocks that are whole. */
static int keep_whole(struct gt_compact_file *f, uint32_t number, struct gt_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++) {
        const struct gt_compact_head *h = &f->block[i].head;
        const uint8_t *payload;
        if (h->type != GT_COMPACT_RECORDS || h->packer != number)
            continue;
        int status = gt_compact_file_payload(f, i, &payload, err);
        if (status == GT_E_NOMEM || status == GT_E_IO)
            return status;
        if (status == 0)
            f->block[n++] = f->block[i];
    }
    f->n = n;
    return 0;
}

static int compare(const void *a, const void *b)
{
    const struct gt_compact_block *x = a, *y = b;
    if (x->head.before != y->head.before)
        return x->head.before < y->head.before ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void drop_first(struct gt_compact_file *f, size_t n)
{
    f->n -= n;
    if (n && f->n)
        memmove(f->block, f->block + n, f->n * sizeof *f->block);
}

/* Keeps the row that leads to the last block, from the first segment on. */
static void keep_row(struct gt_compact_file *f)
{
    size_t first = f->n, i = f->n;
    while (i > 0) {
        const struct gt_compact_head *h = &f->block[--i].head;
        if (i + 1 < f->n && h->before + h->records != f->block[i + 1].head.before)
            break;
        if (h->flags & GT_COMPACT_SEGMENT)
            first = i;
    }
    drop_first(f, first);
}

size_t gt_compact_flight_segment_end(const struct gt_compact_block *block, size_t n, size_t i)
{
    do
        i++;
    while (i < n && !(block[i].head.flags & GT_COMPACT_SEGMENT));
    return i;
}

static uint64_t last_time(const struct gt_compact_block *block, size_t n)
{
    uint64_t last = 0;
    for (size_t i = 0; i < n; i++)
        last = block[i].head.last_time > last ? block[i].head.last_time : last;
    return last;
}

size_t gt_compact_flight_expired(const struct gt_compact_block *block, size_t n, uint64_t time)
{
    size_t from = 0;
    if (!time || !n)
        return 0;
    uint64_t now = last_time(block + n - 1, 1);
    while (from < n) {
        size_t end = gt_compact_flight_segment_end(block, n, from);
        uint64_t last = last_time(block + from, end - from);
        if (end == n || last >= now || now - last <= time)
            return from;
        from = end;
    }
    return from;
}

int gt_compact_flight_open(const char *path, uint32_t number, uint64_t time,
                           struct gt_compact_file *out, uint64_t *records, uint64_t *seen,
                           struct gt_error *err)
{
    *records = 0;
    int status = gt_compact_file_scan(path, out, err);
    if (status < 0)
        return status;
    if (seen)
        *seen = last_record(out, number);
    status = keep_whole(out, number, err);
    if (status < 0) {
        gt_compact_file_close(out);
        return status;
    }
    if (out->n)
        qsort(out->block, out->n, sizeof *out->block, compare);
    if (out->n)
        *records = out->block[out->n - 1].head.before + out->block[out->n - 1].head.records;
    keep_row(out);
    drop_first(out, gt_compact_flight_expired(out->block, out->n, time));
    return 0;
}
