/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the chunks of a pool file, which may be damaged: see recover.h. */
#include "base/array.h"
#include "base/stream/recover.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

int gt_stream_ring_lies(const struct gt_stream_ring *r, uint64_t at, const char *what,
                        uint64_t value)
{
    return gt_error_set(r->err, GT_E_FORMAT, "%s/%s: offset %llu: %s: %llu", r->dir, r->name,
                        (unsigned long long)at, what, (unsigned long long)value);
}

int gt_stream_ring_io_error(const struct gt_stream_ring *r, int errnum)
{
    return gt_error_errno(r->err, errnum, "%s/%s", r->dir, r->name);
}

/* n bytes at `at`. 0, or GT_E_IO, GT_E_FORMAT (the file has become shorter). */
int gt_stream_ring_read_at(const struct gt_stream_ring *r, void *data, size_t n, uint64_t at)
{
    for (size_t have = 0; have < n;) {
        ssize_t got = pread(r->fd, (char *)data + have, n - have, (off_t)(at + have));
        if (got < 0 && errno != EINTR)
            return gt_stream_ring_io_error(r, errno);
        if (got == 0)
            return gt_stream_ring_lies(r, at, "the file ends before", at + n);
        if (got > 0)
            have += (size_t)got;
    }
    return 0;
}

static int add_rest(struct gt_stream_ring *r, const struct gt_stream_rest *rest)
{
    if (!GT_ARRAY_GROW(&r->rests, &r->room, r->n + 1))
        return gt_error_set(r->err, GT_E_NOMEM, "%s/%s: out of memory", r->dir, r->name);
    r->rests[r->n++] = *rest;
    return 0;
}

int gt_stream_ring_read_bounds(const struct gt_stream_ring *r, const struct gt_stream_rest *rest,
                               uint64_t words[GT_BOUNDS_MOST], struct gt_stream_bounds *out)
{
    *out = (struct gt_stream_bounds){.end = words + GT_BOUNDS_MOST, .n = rest->n_more};
    if (rest->n_more > GT_BOUNDS_MOST)
        return gt_stream_ring_lies(r, rest->at, "more payloads than a chunk holds", rest->n_more);
    size_t size = rest->n_more * sizeof *words;
    int status = size ? gt_stream_ring_read_at(r, words + GT_BOUNDS_MOST - rest->n_more, size,
                                               rest->at + GT_CHUNK_SIZE - size)
                      : 0;
    if (status >= 0 && !gt_stream_bounds_check(out, rest->end))
        return gt_stream_ring_lies(r, rest->at, "payloads that do not fit the records of",
                                   rest->end);
    return status;
}

static int check_marks(const struct gt_stream_ring *r, const struct gt_stream_rest *rest)
{
    uint64_t words[GT_BOUNDS_MOST];
    struct gt_stream_bounds marks;
    int status = gt_stream_ring_read_bounds(r, rest, words, &marks);
    if (status >= 0 && r->backend && gt_stream_bounds_whole(&marks, rest->written) != rest->written)
        return gt_stream_ring_lies(r, rest->at, "a part of a record written", rest->written);
    return status;
}

int gt_stream_ring_read_chunk(struct gt_stream_ring *r, uint64_t at)
{
    struct gt_stream_ring_chunk h;
    int status = gt_stream_ring_read_at(r, &h, sizeof h, at);
    if (status < 0)
        return status;
    if (h.state.fill > GT_STREAM_LINE || h.state.fill % GT_STREAM_RECORD)
        return gt_stream_ring_lies(r, at, "a fill that no line has", h.state.fill);
    if (h.state.full > GT_BODY || h.state.full % sizeof(uint64_t))
        return gt_stream_ring_lies(r, at, "a body that no chunk has", h.state.full);
    if (h.state.base > h.state.full || h.state.base % sizeof(uint64_t))
        return gt_stream_ring_lies(r, at, "a line outside the chunk", h.state.base);
    uint32_t written = r->by_packed ? h.packed : h.state.written;
    if (written > GT_CHUNK_ROOM)
        return gt_stream_ring_lies(r, at, "more written than a chunk holds", written);
    uint32_t end = h.state.fill && h.state.base + h.state.fill > h.state.full
                       ? h.state.base + h.state.fill
                       : h.state.full;
    if (end <= written)
        return 0;
    if (h.magic != GT_CHUNK_MAGIC)
        return gt_stream_ring_lies(r, at, "not a chunk's magic number", h.magic);
    if (h.offset % sizeof(uint64_t) || h.offset > (uint64_t)INT64_MAX - GT_CHUNK_SIZE)
        return gt_stream_ring_lies(r, at, "a file offset that no record has", h.offset);
    const struct gt_stream_rest rest = {.offset = h.offset,
                                        .at = at,
                                        .id = h.id,
                                        .written = written,
                                        .base = h.state.base,
                                        .full = h.state.full,
                                        .end = end,
                                        .n_more = h.state.n_more};
    status = check_marks(r, &rest);
    return status < 0 ? status : add_rest(r, &rest);
}

int gt_stream_ring_read_run(const struct gt_stream_ring *r, const struct gt_stream_rest *rest,
                            uint32_t from, uint32_t to, void *data)
{
    int status = 0;
    uint32_t split = from > rest->full ? from : rest->full; /* what follows is in the line only */
    if (split > to)
        split = to;
    if (from < split)
        status = gt_stream_ring_read_at(r, data, split - from, rest->at + GT_BODY_AT + from);
    if (status >= 0 && split < to)
        status = gt_stream_ring_read_at(r, (char *)data + (split - from), to - split,
                                        rest->at + GT_CHUNK_HEAD + (split - rest->base));
    return status;
}

int gt_stream_rest_compare(const void *a, const void *b)
{
    const struct gt_stream_rest *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}
