/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a ring's blocks go: see flight_ring.h.
 *
 * A block goes to where the last one ends, as long as that is free; else to the largest part that
 * is; else the file grows; and where it must not or cannot, the oldest segment goes. Free room is
 * overwritten from its beginning, so that of an old block the head goes first.
 */
#include "base/array.h"
#include "calls/file/flight_ring.h"
#include "calls/file/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct gt_compact_flight_sys gt_compact_flight_sys = {.pwrite = pwrite, .fallocate = fallocate};

int gt_compact_flight_write_at(int fd, const uint8_t *data, size_t n, uint64_t at)
{
    while (n > 0) {
        ssize_t put = gt_compact_flight_sys.pwrite(fd, data, n, (off_t)at);
        if (put < 0 && errno != EINTR)
            return errno;
        if (put == 0)
            return ENOSPC;
        data += put > 0 ? put : 0;
        at += put > 0 ? (uint64_t)put : 0;
        n -= put > 0 ? (size_t)put : 0;
    }
    return 0;
}

static const struct gt_compact_block *oldest(const struct gt_compact_flight_room *r)
{
    return r->block + r->first;
}

static void drop(struct gt_compact_flight_room *r, size_t n)
{
    r->first += n;
    r->n -= n;
}

static int compare(const void *a, const void *b)
{
    const struct gt_compact_gap *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Takes the largest part of the file that no block which counts is in. */
static bool take_gap(struct gt_compact_flight_room *r, size_t size)
{
    struct gt_compact_gap *used = calloc(r->n + 1, sizeof *used);
    uint64_t from = GT_COMPACT_FILE_HEAD, most = 0;
    if (!used)
        return false;
    for (size_t i = 0; i < r->n; i++)
        used[i] =
            (struct gt_compact_gap){oldest(r)[i].at, GT_COMPACT_HEAD + oldest(r)[i].head.size};
    qsort(used, r->n, sizeof *used, compare);
    used[r->n].at = r->size;
    for (size_t i = 0; i <= r->n; i++) {
        if (used[i].at > from && used[i].at - from > most) {
            most = used[i].at - from;
            r->next = from;
            r->free_end = used[i].at;
        }
        from = used[i].at + used[i].size;
    }
    free(used);
    return most >= size;
}

/* Makes the file longer; what it is longer by is allocated. */
static bool grow(struct gt_compact_flight_room *r, size_t size)
{
    uint64_t more = size > GT_FLIGHT_GROW ? size : GT_FLIGHT_GROW;
    if (r->full || r->limit.bytes < r->size || r->limit.bytes - r->size < size)
        return false;
    if (r->limit.bytes - r->size < more)
        more = r->limit.bytes - r->size;
    int e;
    do
        e = gt_compact_flight_sys.fallocate(r->fd, 0, (off_t)r->size, (off_t)more) == 0 ? 0 : errno;
    while (e == EINTR);
    if (e == EOPNOTSUPP || e == ENOSYS)
        e = ftruncate(r->fd, (off_t)(r->size + more)) == 0 ? 0 : errno;
    r->size += e ? 0 : more;
    return e == 0;
}

/* Finds a place for a block that goes on with the last one, or begins a segment. The blocks of the
 * segment that it goes on with stay. */
static bool make_room(struct gt_compact_flight_room *r, size_t size, bool begins)
{
    if (r->free_end - r->next >= size)
        return true;
    drop(r, gt_compact_flight_expired(oldest(r), r->n, r->limit.time));
    while (!take_gap(r, size)) {
        size_t n = r->n ? gt_compact_flight_segment_end(oldest(r), r->n, 0) : 0;
        if (grow(r, size))
            continue;
        if (n == 0 || (n == r->n && !begins))
            return false;
        drop(r, n);
    }
    return true;
}

static bool note(struct gt_compact_flight_room *r, const struct gt_compact_head *h)
{
    if (r->first > r->n) {
        memmove(r->block, oldest(r), r->n * sizeof *r->block);
        r->first = 0;
    }
    if (!GT_ARRAY_GROW(&r->block, &r->room, r->first + r->n + 1))
        return false;
    r->block[r->first + r->n++] = (struct gt_compact_block){r->next, *h};
    r->next += GT_COMPACT_HEAD + h->size;
    return true;
}

int gt_compact_flight_put_block(struct gt_compact_flight_room *r,
                                const struct gt_compact_head *head, const uint8_t *block,
                                size_t size)
{
    int e = size > r->limit.bytes / 2 ? EFBIG : ENOSPC;
    while (make_room(r, size, head->flags & GT_COMPACT_SEGMENT)) {
        e = gt_compact_flight_write_at(r->fd, block, size, r->next);
        if (e == 0)
            return note(r, head) ? 0 : ENOMEM;
        if ((e != ENOSPC && e != EDQUOT) || r->full)
            return e;
        r->full = true; /* the file has grown in name only */
        r->size = r->free_end = r->next;
    }
    return e;
}
