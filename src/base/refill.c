/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A buffer between a source and a parser: see refill.h. */
#include "base/refill.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(const char *name, struct gt_error *err)
{
    return gt_error_set(err, GT_E_NOMEM, "%.300s: out of memory", name);
}

int gt_bytes_refill_init(struct gt_bytes_refill *r, gt_bytes_refill_fn read, void *self,
                         const char *name, size_t ahead, struct gt_error *err)
{
    *r = (struct gt_bytes_refill){.read = read, .self = self, .cap = ahead, .ahead = ahead};
    r->name = strdup(name);
    r->buf = malloc(ahead);
    return r->name && r->buf ? 0 : no_memory(name, err);
}

void gt_bytes_refill_free(struct gt_bytes_refill *r)
{
    free(r->name);
    free(r->buf);
    *r = (struct gt_bytes_refill){0};
}

void gt_bytes_refill_restart(struct gt_bytes_refill *r, uint64_t offset)
{
    r->pos = r->end = 0;
    r->offset = offset;
    r->ended = false;
}

/* From pos on there is room for n bytes and for those asked for beyond them. */
static bool make_room(struct gt_bytes_refill *r, size_t n)
{
    size_t most = n + r->ahead;
    if (most < n)
        return false;
    if (r->cap - r->pos >= most)
        return true;
    memmove(r->buf, r->buf + r->pos, r->end - r->pos);
    r->end -= r->pos;
    r->pos = 0;
    if (r->cap >= most)
        return true;
    uint8_t *buf = realloc(r->buf, most);
    if (!buf)
        return false;
    r->buf = buf;
    r->cap = most;
    return true;
}

int gt_bytes_refill_more(struct gt_bytes_refill *r, size_t n, struct gt_error *err)
{
    while (gt_bytes_refill_left(r) < n && !r->ended) {
        size_t missing = n - gt_bytes_refill_left(r);
        if (!make_room(r, n))
            return no_memory(r->name, err);
        ssize_t got = r->read(r->self, r->buf + r->end, missing > r->ahead ? missing : r->ahead);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return gt_error_errno(err, errno, "%.300s offset %" PRIu64 ": cannot be read", r->name,
                                  r->offset + gt_bytes_refill_left(r));
        r->ended = got == 0;
        r->end += (size_t)got;
    }
    return gt_bytes_refill_left(r) >= n;
}
