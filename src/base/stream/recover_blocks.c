/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recovery to a backend's file: see recover.h, and internal.h for the two counts. What is copied is
 * the same, in the same order, each time: so a recovery that was itself killed is taken up again
 * where the file says that it ended.
 */
#include "base/stream/recover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK_MOST = 1 << 20 }; /* records */

static int backend_error(const struct gt_ring *r, int errnum)
{
    return gt_error_errno(r->err, errnum, "%s", r->backend->path(r->self));
}

/* The block that was being added is not there. What follows it in the file from now on is copied
 * from the pool, and not the block. */
static int give_up_block(const struct gt_ring *r, uint64_t filed)
{
    ssize_t n = pwrite(r->fd, &filed, sizeof filed, offsetof(struct gt_ring_head, filing));
    return n == sizeof filed ? 0 : gt_ring_io_error(r, n < 0 ? errno : EIO);
}

int gt_ring_open_backend(struct gt_ring *r, const struct gt_ring_head *head)
{
    uint64_t filed = head->filed, filing = head->filing, there;
    int e = r->backend->open(r->self, head->number, true, &there);
    if (e)
        return backend_error(r, e);
    if (filing < filed || there < filed)
        return gt_ring_lies(r, offsetof(struct gt_ring_head, filed),
                            "more records in the file than it has", filed);
    /* With equal counts `packed` may already be of a block that was not begun to be added. */
    r->by_packed = filing > filed && there >= filing;
    r->skip = there - (r->by_packed ? filing : filed);
    return r->by_packed || filing == filed ? 0 : give_up_block(r, filed);
}

/* ---- order --------------------------------------------------------------------------------- */

/* Whether all records of the stream before the rest are in the file or in `before`, the rest before
 * it. If chunks may be missing, one that has none in the file is not trusted. */
static bool follows(const struct gt_ring *r, const struct gt_rest *rest,
                    const struct gt_rest *before)
{
    if (before)
        return rest->written == 0 && rest->offset == before->offset + before->end;
    return !r->partly || rest->written > 0 || rest->offset == 0;
}

/* Nothing comes after a hole: those rests are made empty. */
static int check_streams(struct gt_ring *r)
{
    uint64_t words[GT_BOUNDS_MOST];
    struct gt_bounds marks;
    bool hole = false;
    for (size_t i = 0; i < r->n; i++) {
        struct gt_rest *rest = &r->rests[i];
        bool first = i == 0 || rest->id != rest[-1].id;
        hole = (!first && hole) || !follows(r, rest, first ? NULL : &rest[-1]);
        if (hole && !r->partly)
            return gt_ring_lies(r, rest->at, "a stream with a hole before record",
                                rest->offset / GT_STREAM_RECORD);
        if (hole) {
            int status = gt_ring_read_bounds(r, rest, words, &marks);
            if (status < 0)
                return status;
            r->left += gt_bounds_records(&marks, rest->written, rest->end);
            rest->written = rest->end;
        }
    }
    return 0;
}

/* Those of one stream stay in order, whatever times they have. */
static int read_times(struct gt_ring *r)
{
    int status = 0;
    for (size_t i = 0; i < r->n && status >= 0; i++) {
        struct gt_rest *rest = &r->rests[i];
        uint64_t record[2] = {0};
        if (rest->written < rest->end)
            status =
                gt_ring_read_run(r, rest, rest->written, rest->written + GT_STREAM_RECORD, record);
        rest->time = record[0];
        if (i > 0 && rest->id == rest[-1].id && rest->time < rest[-1].time)
            rest->time = rest[-1].time;
    }
    return status;
}

static int compare_times(const void *a, const void *b)
{
    const struct gt_rest *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return gt_rest_compare(a, b);
}

/* ---- copying ------------------------------------------------------------------------------- */

static int end_block(const struct gt_ring *r)
{
    uint64_t bytes;
    int e = r->backend->end(r->self, &bytes);
    return e ? backend_error(r, e) : 0;
}

static int put_rest(struct gt_ring *r, const struct gt_rest *rest, uint64_t *put)
{
    uint64_t words[GT_CHUNK_ROOM / sizeof(uint64_t)], marked[GT_BOUNDS_MOST];
    struct gt_bounds marks;
    int status = gt_ring_read_bounds(r, rest, marked, &marks);
    if (status < 0)
        return status;
    uint32_t n = gt_bounds_records(&marks, rest->written, rest->end);
    uint32_t skip = n < r->skip ? n : (uint32_t)r->skip;
    uint32_t from = gt_bounds_skip(&marks, rest->written, skip);
    r->skip -= skip;
    n -= skip;
    if (!n)
        return 0;
    status = gt_ring_read_run(r, rest, from, rest->end, words);
    size_t n_words = (rest->end - from) / sizeof *words;
    int e = status < 0 ? 0 : r->backend->put(r->self, rest->id, words, n_words);
    if (e == EAGAIN && (status = end_block(r)) >= 0)
        e = r->backend->put(r->self, rest->id, words, n_words);
    *put += n;
    return status < 0 ? status : e ? backend_error(r, e) : 0;
}

static int64_t put_rests(struct gt_ring *r)
{
    uint64_t records = 0, ended = 0;
    int status = 0;
    for (size_t i = 0; i < r->n && status >= 0; i++) {
        status = put_rest(r, &r->rests[i], &records);
        uint64_t n = records - ended;
        if (status >= 0 && n > 0 && (n >= BLOCK_MOST || r->backend->is_full(r->self))) {
            status = end_block(r);
            ended = records;
        }
    }
    if (status >= 0 && records > ended)
        status = end_block(r);
    return status < 0 ? status : (int64_t)records;
}

int64_t gt_ring_to_blocks(struct gt_ring *r)
{
    int status = check_streams(r);
    if (status >= 0)
        status = read_times(r);
    if (status < 0)
        return status;
    if (r->n)
        qsort(r->rests, r->n, sizeof *r->rests, compare_times);
    return put_rests(r);
}
