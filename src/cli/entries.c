/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entry addresses of a recording: see entries.h. */
#include "cli/entries.h"

#include "format/uftrace_dir.h"

#include <stdlib.h>
#include <string.h>

/* A set of addresses: open addressing, a power of two of slots, at most half full. */
struct set {
    uint64_t *slot; /* address + 1; 0: empty */
    size_t n, bits;
    uint64_t latest; /* the one asked for last, + 1: calls come in rows */
};

static size_t slot_of(const struct set *s, uint64_t key)
{
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - s->bits));
}

static bool put(struct set *s, uint64_t key)
{
    const size_t mask = ((size_t)1 << s->bits) - 1;
    size_t i = slot_of(s, key);
    while (s->slot[i] && s->slot[i] != key)
        i = (i + 1) & mask;
    bool fresh = s->slot[i] == 0;
    s->slot[i] = key;
    return fresh;
}

static int grow(struct set *s)
{
    struct set more = {.bits = s->bits ? s->bits + 1 : 14};
    more.slot = calloc((size_t)1 << more.bits, sizeof *more.slot);
    if (!more.slot)
        return GT_E_NOMEM;
    for (size_t i = 0; s->slot && i < (size_t)1 << s->bits; i++)
        if (s->slot[i])
            put(&more, s->slot[i]);
    free(s->slot);
    s->slot = more.slot;
    s->bits = more.bits;
    return 0;
}

static int add(struct set *s, uint64_t addr)
{
    const uint64_t key = addr + 1;
    if (key == s->latest)
        return 0;
    s->latest = key;
    if (s->slot == NULL || s->n >= (size_t)1 << (s->bits - 1)) {
        int status = grow(s);
        if (status < 0)
            return status;
    }
    s->n += put(s, key);
    return 0;
}

static int read_task(const char *dir, uint32_t tid, struct set *s, struct gt_error *err)
{
    struct gt_uftrace_dat *dat;
    struct gt_uftrace_record r;
    int status = gt_uftrace_dat_open(dir, tid, &dat, err);
    if (status < 0)
        return status;
    while (status == 0 && gt_uftrace_dat_next(dat, &r, NULL) == 1)
        if (r.type == GT_UFTRACE_ENTRY)
            status = add(s, r.addr);
    gt_uftrace_dat_close(dat);
    return status < 0 ? gt_error_set(err, status, "%s: out of memory", dir) : 0;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The set's own memory becomes the sorted array. */
static void make_array(struct set *s, struct gt_entries *out)
{
    size_t n = 0;
    for (size_t i = 0; s->slot && i < (size_t)1 << s->bits; i++)
        if (s->slot[i])
            s->slot[n++] = s->slot[i] - 1;
    if (n)
        qsort(s->slot, n, sizeof *s->slot, compare);
    *out = (struct gt_entries){s->slot, n};
}

int gt_entries_read(const char *dir, struct gt_entries *out, struct gt_error *err)
{
    uint32_t *tids = NULL;
    struct set s = {0};
    int64_t n = gt_uftrace_dat_list(dir, &tids, err);
    int status = n < 0 ? (int)n : 0;
    *out = (struct gt_entries){0};
    for (int64_t i = 0; i < n && status == 0; i++)
        status = read_task(dir, tids[i], &s, err);
    free(tids);
    if (status < 0)
        free(s.slot);
    else
        make_array(&s, out);
    return status;
}

void gt_entries_free(struct gt_entries *e)
{
    free(e->addr);
    *e = (struct gt_entries){0};
}

size_t gt_entries_at(const struct gt_entries *e, uint64_t addr)
{
    size_t lo = 0, hi = e->n;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (e->addr[middle] < addr)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

void gt_entries_remove(struct gt_entries *e, uint64_t start, uint64_t end)
{
    size_t first = gt_entries_at(e, start), last = gt_entries_at(e, end);
    if (first >= last)
        return;
    memmove(e->addr + first, e->addr + last, (e->n - last) * sizeof *e->addr);
    e->n -= last - first;
}
