/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entry addresses of a recording: see entries.h. */
#include "names/placement/entries.h"
#include "base/search.h"

#include "recording/directory/uftrace.h"

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
