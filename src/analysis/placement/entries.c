/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entry addresses of a recording: see entries.h. */
#include "analysis/placement/entries.h"
#include "base/search.h"

#include "format/uftrace/dir.h"

#include <stdlib.h>
#include <string.h>

/* A set of addresses: open addressing, a power of two of slots, at most half full. */
struct gt_entry_set {
    uint64_t *slot; /* address + 1; 0: empty */
    size_t n, bits;
    uint64_t latest; /* the one asked for last, + 1: calls come in rows */
};

static size_t slot_of(const struct gt_entry_set *s, uint64_t key)
{
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - s->bits));
}

static bool put(struct gt_entry_set *s, uint64_t key)
{
    const size_t mask = ((size_t)1 << s->bits) - 1;
    size_t i = slot_of(s, key);
    while (s->slot[i] && s->slot[i] != key)
        i = (i + 1) & mask;
    bool fresh = s->slot[i] == 0;
    s->slot[i] = key;
    return fresh;
}

static int grow(struct gt_entry_set *s)
{
    struct gt_entry_set more = {.bits = s->bits ? s->bits + 1 : 14};
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

static int add(struct gt_entry_set *s, uint64_t addr)
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

struct gt_entry_set *gt_entry_set_create(void)
{
    return calloc(1, sizeof(struct gt_entry_set));
}

int gt_entry_set_add(struct gt_entry_set *s, uint64_t addr)
{
    return add(s, addr & GT_UFTRACE_ADDR_MASK);
}

/* Each entry into the set of its time, of which there are n_times + 1. */
static int read_task(const char *dir, uint32_t tid, const uint64_t *times, size_t n_times,
                     struct gt_entry_set *sets, struct gt_error *err)
{
    struct gt_uftrace_dat *dat;
    struct gt_uftrace_record r;
    size_t at = 0;
    int status = gt_uftrace_dat_open(dir, tid, &dat, err);
    if (status < 0)
        return status;
    while (status == 0 && gt_uftrace_dat_next(dat, &r, NULL) == 1) {
        while (at < n_times && r.time >= times[at])
            at++;
        if (r.type == GT_UFTRACE_ENTRY)
            status = add(&sets[at], r.addr);
    }
    gt_uftrace_dat_close(dat);
    return status < 0 ? gt_error_set(err, status, "%s: out of memory", dir) : 0;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The set's own memory becomes the sorted array. */
static void make_array(struct gt_entry_set *s, struct gt_entries *out)
{
    size_t n = 0;
    for (size_t i = 0; s->slot && i < (size_t)1 << s->bits; i++)
        if (s->slot[i])
            s->slot[n++] = s->slot[i] - 1;
    if (n)
        qsort(s->slot, n, sizeof *s->slot, compare);
    uint64_t *less = n ? realloc(s->slot, n * sizeof *s->slot) : NULL;
    if (n == 0)
        free(s->slot);
    *out = (struct gt_entries){.addr = less || n == 0 ? less : s->slot, .n = n};
}

void gt_entry_set_finish(struct gt_entry_set *s, struct gt_entries *out)
{
    if (out)
        make_array(s, out);
    else
        free(s->slot);
    free(s);
}

int gt_entries_read_tasks(const char *dir, const uint32_t *tids, size_t n, const uint64_t *times,
                          size_t n_times, struct gt_entries *out, struct gt_error *err)
{
    struct gt_entry_set *sets = calloc(n_times + 1, sizeof *sets);
    int status = sets ? 0 : gt_error_set(err, GT_E_NOMEM, "%s: out of memory", dir);
    memset(out, 0, (n_times + 1) * sizeof *out);
    for (size_t i = 0; i < n && status == 0; i++) {
        status = read_task(dir, tids[i], times, n_times, sets, err);
        status = status == GT_E_NOT_FOUND ? 0 : status;
    }
    for (size_t i = 0; sets && i <= n_times; i++) {
        if (status < 0)
            free(sets[i].slot);
        else
            make_array(&sets[i], &out[i]);
    }
    free(sets);
    return status;
}

int gt_entries_read(const char *dir, struct gt_entries *out, struct gt_error *err)
{
    uint32_t *tids = NULL;
    int64_t n = gt_uftrace_dat_list(dir, &tids, err);
    *out = (struct gt_entries){0};
    int status = n < 0 ? (int)n : gt_entries_read_tasks(dir, tids, (size_t)n, NULL, 0, out, err);
    free(tids);
    return status;
}

/* Of a record: what is deeper begins at 0 again. */
#define DEPTHS 1024

static int add_call(struct gt_entries_call *call, const struct gt_uftrace_record *r,
                    const uint64_t *stack)
{
    *call = (struct gt_entries_call){r->time, calloc(r->depth + 1u, sizeof *stack), r->depth};
    if (!call->open)
        return GT_E_NOMEM;
    memcpy(call->open, stack, r->depth * sizeof *stack);
    return 0;
}

static int64_t find_calls(struct gt_uftrace_dat *dat, const struct gt_entries *functions,
                          size_t most, struct gt_entries_call *out)
{
    uint64_t stack[DEPTHS] = {0}; /* by depth */
    struct gt_uftrace_record r;
    int64_t n = 0;
    while ((size_t)n < most && gt_uftrace_dat_next(dat, &r, NULL) == 1) {
        if (r.type != GT_UFTRACE_ENTRY)
            continue;
        r.depth %= DEPTHS;
        stack[r.depth] = r.addr;
        if (gt_entries_contain(functions, r.addr) && add_call(&out[n++], &r, stack) < 0)
            return GT_E_NOMEM;
    }
    return n;
}

int64_t gt_entries_find(const char *dir, uint32_t tid, const struct gt_entries *functions,
                        size_t most, struct gt_entries_call **out, struct gt_error *err)
{
    struct gt_uftrace_dat *dat;
    int status = gt_uftrace_dat_open(dir, tid, &dat, err);
    if (status < 0)
        return status;
    *out = calloc(most + 1, sizeof **out);
    int64_t n = *out ? find_calls(dat, functions, most, *out) : GT_E_NOMEM;
    gt_uftrace_dat_close(dat);
    if (n >= 0)
        return n;
    gt_entries_calls_free(*out, *out ? (int64_t)most : 0);
    return gt_error_set(err, (int)n, "%s: out of memory", dir);
}

void gt_entries_calls_free(struct gt_entries_call *call, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        free(call[i].open);
    free(call);
}

bool gt_entries_contain(const struct gt_entries *e, uint64_t addr)
{
    size_t at = gt_entries_at(e, addr);
    return at < e->n && e->addr[at] == addr;
}

void gt_entries_free(struct gt_entries *e)
{
    free(e->addr);
    *e = (struct gt_entries){0};
}

size_t gt_entries_at(const struct gt_entries *e, uint64_t addr)
{
    return gt_search_below(e->addr, e->n, sizeof *e->addr, 0, addr);
}

void gt_entries_remove(struct gt_entries *e, uint64_t start, uint64_t end)
{
    size_t first = gt_entries_at(e, start), last = gt_entries_at(e, end);
    if (first >= last)
        return;
    memmove(e->addr + first, e->addr + last, (e->n - last) * sizeof *e->addr);
    e->n -= last - first;
}
