/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entry addresses of a recording: see entries.h. */
#include "names/placement/entries.h"

#include "base/search.h"
#include "recording/directory/uftrace.h"

#include <stdlib.h>
#include <string.h>

/* A set of addresses: open addressing, a power of two of slots, at most half full. */
struct gt_place_entry_set {
    uint64_t *slot; /* address + 1; 0: empty */
    size_t n, bits;
    uint64_t latest; /* the one asked for last, + 1: calls come in rows */
};

static size_t slot_of(const struct gt_place_entry_set *s, uint64_t key)
{
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - s->bits));
}

static bool put(struct gt_place_entry_set *s, uint64_t key)
{
    const size_t mask = ((size_t)1 << s->bits) - 1;
    size_t i = slot_of(s, key);
    while (s->slot[i] && s->slot[i] != key)
        i = (i + 1) & mask;
    bool fresh = s->slot[i] == 0;
    s->slot[i] = key;
    return fresh;
}

static int grow(struct gt_place_entry_set *s)
{
    struct gt_place_entry_set more = {.bits = s->bits ? s->bits + 1 : 14};
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

static int add(struct gt_place_entry_set *s, uint64_t addr)
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

struct gt_place_entry_set *gt_place_entry_set_create(void)
{
    return calloc(1, sizeof(struct gt_place_entry_set));
}

int gt_place_entry_set_add(struct gt_place_entry_set *s, uint64_t addr)
{
    return add(s, addr & GT_UFTRACE_ADDR_MASK);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The set's own memory becomes the sorted array. */
static void make_array(struct gt_place_entry_set *s, struct gt_place_entries *out)
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
    *out = (struct gt_place_entries){.addr = less || n == 0 ? less : s->slot, .n = n};
}

void gt_place_entry_set_finish(struct gt_place_entry_set *s, struct gt_place_entries *out)
{
    if (out)
        make_array(s, out);
    else
        free(s->slot);
    free(s);
}

bool gt_place_entries_contain(const struct gt_place_entries *e, uint64_t addr)
{
    size_t at = gt_place_entries_at(e, addr);
    return at < e->n && e->addr[at] == addr;
}

void gt_place_entries_free(struct gt_place_entries *e)
{
    free(e->addr);
    *e = (struct gt_place_entries){0};
}

size_t gt_place_entries_at(const struct gt_place_entries *e, uint64_t addr)
{
    return gt_base_search_below(e->addr, e->n, sizeof *e->addr, 0, addr);
}

void gt_place_entries_remove(struct gt_place_entries *e, uint64_t start, uint64_t end)
{
    size_t first = gt_place_entries_at(e, start), last = gt_place_entries_at(e, end);
    if (first >= last)
        return;
    memmove(e->addr + first, e->addr + last, (e->n - last) * sizeof *e->addr);
    e->n -= last - first;
}

/* Entries of a recording's records, each time in one pass: see entries.h. */

static int out_of_memory(const struct gt_recording_records *at, int status, struct gt_error *err)
{
    if (status == GT_E_NOMEM)
        gt_error_set(err, status, "%s: out of memory", at->file ? at->file : at->dir);
    return status;
}

/* ---- all of them --------------------------------------------------------------------------- */

static int add_entries(void *self, uint32_t tid, const struct gt_uftrace_record *r, size_t n)
{
    struct gt_place_entry_set *set = self;
    int status = 0;
    (void)tid;
    for (size_t i = 0; i < n && status == 0; i++)
        if (r[i].type == GT_UFTRACE_ENTRY)
            status = gt_place_entry_set_add(set, r[i].addr);
    return status;
}

int gt_place_entries_read(const struct gt_recording_records *at, struct gt_place_entries *out,
                          struct gt_error *err)
{
    struct gt_place_entry_set *set = gt_place_entry_set_create();
    const struct gt_recording_records_reader reader = {.piece = add_entries, .self = set};
    *out = (struct gt_place_entries){0};
    int status = set ? at->read(at, &reader, err) : GT_E_NOMEM;
    if (set)
        gt_place_entry_set_finish(set, status < 0 ? NULL : out);
    return out_of_memory(at, status, err);
}

/* ---- by task ------------------------------------------------------------------------------- */

/* A task that is looked for. */
struct wanted {
    uint32_t tid;
    size_t group;    /* or the element of gt_place_entries_calls */
    size_t at;       /* the stretch of time; a group's */
    uint64_t *stack; /* gt_place_entries_find: functions by depth; NULL: none was entered yet */
};

struct tasks {
    struct wanted *task; /* by tid */
    size_t n;
    struct wanted *last; /* asked for last */
};

static int compare_tasks(const void *a, const void *b)
{
    const struct wanted *x = a, *y = b;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static struct wanted *find(struct tasks *t, uint32_t tid)
{
    const struct wanted key = {.tid = tid};
    if (!t->last || t->last->tid != tid)
        t->last = t->n ? bsearch(&key, t->task, t->n, sizeof key, compare_tasks) : NULL;
    return t->last;
}

/* ---- groups -------------------------------------------------------------------------------- */

struct groups {
    const struct gt_place_entries_group *group;
    size_t n;
    struct gt_place_entry_set ***set; /* each group's */
    struct tasks tasks;
};

static bool is_in_group(void *self, uint32_t tid)
{
    struct groups *g = self;
    return find(&g->tasks, tid);
}

static int add_to_group(void *self, uint32_t tid, const struct gt_uftrace_record *r, size_t n)
{
    struct groups *g = self;
    struct wanted *w = find(&g->tasks, tid);
    const struct gt_place_entries_group *group = &g->group[w->group];
    int status = 0;
    for (size_t i = 0; i < n && status == 0; i++) {
        while (w->at < group->n_times && r[i].time >= group->times[w->at])
            w->at++;
        if (r[i].type == GT_UFTRACE_ENTRY)
            status = gt_place_entry_set_add(g->set[w->group][w->at], r[i].addr);
    }
    return status;
}

static int make_groups(struct groups *g)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n; i++)
        n += g->group[i].n_tids;
    g->tasks.task = calloc(n + 1, sizeof *g->tasks.task);
    g->set = calloc(g->n + 1, sizeof *g->set);
    bool made = g->tasks.task && g->set;
    for (size_t i = 0; i < g->n && made; i++) {
        const struct gt_place_entries_group *group = &g->group[i];
        g->set[i] = calloc(group->n_times + 1, sizeof **g->set);
        made = g->set[i] != NULL;
        for (size_t k = 0; made && k <= group->n_times; k++)
            made = (g->set[i][k] = gt_place_entry_set_create()) != NULL;
        for (size_t k = 0; k < group->n_tids; k++)
            g->tasks.task[g->tasks.n++] = (struct wanted){.tid = group->tids[k], .group = i};
    }
    if (made && n)
        qsort(g->tasks.task, n, sizeof *g->tasks.task, compare_tasks);
    return made ? 0 : GT_E_NOMEM;
}

static void finish_groups(struct groups *g, bool keep)
{
    for (size_t i = 0; g->set && i < g->n; i++) {
        for (size_t k = 0; g->set[i] && k <= g->group[i].n_times; k++)
            if (g->set[i][k])
                gt_place_entry_set_finish(g->set[i][k], keep ? &g->group[i].out[k] : NULL);
        free(g->set[i]);
    }
    free(g->set);
    free(g->tasks.task);
}

int gt_place_entries_read_groups(const struct gt_recording_records *at,
                                 const struct gt_place_entries_group *group, size_t n,
                                 struct gt_error *err)
{
    struct groups g = {.group = group, .n = n};
    const struct gt_recording_records_reader reader = {is_in_group, add_to_group, &g};
    for (size_t i = 0; i < n; i++)
        memset(group[i].out, 0, (group[i].n_times + 1) * sizeof *group[i].out);
    int status = make_groups(&g);
    if (status == 0)
        status = at->read(at, &reader, err);
    finish_groups(&g, status == 0);
    return out_of_memory(at, status, err);
}

/* ---- calls --------------------------------------------------------------------------------- */

/* Of a record: deeper calls begin at 0 again. */
#define DEPTHS 1024

struct finder {
    const struct gt_place_entries *functions;
    size_t most;
    struct gt_place_entries_calls *calls;
    struct tasks tasks;
};

static bool is_looked_at(void *self, uint32_t tid)
{
    struct finder *f = self;
    return find(&f->tasks, tid);
}

static int add_call(struct gt_place_entries_calls *calls, const struct gt_uftrace_record *r,
                    const uint64_t *stack)
{
    struct gt_place_entries_call *call = realloc(calls->call, (calls->n + 1) * sizeof *call);
    if (!call)
        return GT_E_NOMEM;
    calls->call = call;
    call += calls->n;
    *call = (struct gt_place_entries_call){r->time, calloc(r->depth + 1u, sizeof *stack), r->depth};
    if (!call->open)
        return GT_E_NOMEM;
    calls->n++;
    memcpy(call->open, stack, r->depth * sizeof *stack);
    return 0;
}

static int find_calls(void *self, uint32_t tid, const struct gt_uftrace_record *r, size_t n)
{
    struct finder *f = self;
    struct wanted *w = find(&f->tasks, tid);
    struct gt_place_entries_calls *calls = &f->calls[w->group];
    if (!w->stack && !(w->stack = calloc(DEPTHS, sizeof *w->stack)))
        return GT_E_NOMEM;
    int status = 0;
    for (size_t i = 0; i < n && calls->n < f->most && status == 0; i++) {
        struct gt_uftrace_record entry = r[i];
        if (entry.type != GT_UFTRACE_ENTRY)
            continue;
        entry.depth %= DEPTHS;
        w->stack[entry.depth] = entry.addr;
        if (gt_place_entries_contain(f->functions, entry.addr))
            status = add_call(calls, &entry, w->stack);
    }
    return status;
}

int gt_place_entries_find(const struct gt_recording_records *at,
                          const struct gt_place_entries *functions, size_t most,
                          struct gt_place_entries_calls *calls, size_t n, struct gt_error *err)
{
    struct finder f = {.functions = functions, .most = most, .calls = calls};
    const struct gt_recording_records_reader reader = {is_looked_at, find_calls, &f};
    f.tasks.task = calloc(n + 1, sizeof *f.tasks.task);
    f.tasks.n = f.tasks.task ? n : 0;
    for (size_t i = 0; i < n; i++) {
        calls[i].call = NULL;
        calls[i].n = 0;
        if (f.tasks.n)
            f.tasks.task[i] = (struct wanted){.tid = calls[i].tid, .group = i};
    }
    int status = f.tasks.task ? at->read(at, &reader, err) : GT_E_NOMEM;
    for (size_t i = 0; i < f.tasks.n; i++)
        free(f.tasks.task[i].stack);
    free(f.tasks.task);
    return out_of_memory(at, status, err);
}

void gt_place_entries_calls_free(struct gt_place_entries_calls *calls, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < calls[i].n; k++)
            free(calls[i].call[k].open);
        free(calls[i].call);
    }
}
