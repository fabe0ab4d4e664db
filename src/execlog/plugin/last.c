/* SPDX-License-Identifier: GPL-2.0-or-later */
/* last=N: see last.h. */
#include "execlog/plugin/last.h"

#include "execlog/plugin/recorder.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 8000 };                                    /* words */
enum { LINES = 1, ACCESS = 2, CHANGE = 3, COMPLETE = 4 }; /* the low bits of an item's first word */
enum { STORE = 8, VALUE = 16 };

struct chunk {
    struct chunk *next;
    uint64_t lines;
    size_t n;
    uint64_t words[CHUNK];
};

struct ring {
    struct chunk *first, *last;
    uint64_t lines;   /* of all chunks */
    void *downstream; /* the vCPU's `sink` of the sink downstream */
};

static const struct gt_exlog_sink *downstream_of(const struct gt_exlog_vcpu *v)
{
    return v->recorder->last.downstream;
}

static bool begin(struct gt_exlog_vcpu *v)
{
    struct ring *r = calloc(1, sizeof *r);
    if (r)
        r->first = r->last = calloc(1, sizeof *r->first);
    if (!r || !r->first || !downstream_of(v)->begin(v)) {
        free(r ? r->first : NULL);
        free(r);
        return false;
    }
    r->downstream = v->sink;
    v->sink = r;
    return true;
}

static void *describe(struct gt_exlog *e, const struct gt_exlog_block *b)
{
    return e->last.downstream->describe(e, b);
}

static void forget(struct gt_exlog *e, void *described)
{
    e->last.downstream->forget(e, described);
}

/* The next chunk to fill: the oldest one, if the others have `most` lines or there is no memory,
 * else a new one. */
static struct chunk *next_chunk(struct ring *r, uint64_t most)
{
    struct chunk *c = NULL;
    if (r->lines - r->first->lines < most || r->first == r->last)
        c = malloc(sizeof *c);
    if (!c) {
        c = r->first;
        r->first = c->next ? c->next : c;
        r->lines -= c->lines;
    }
    if (c != r->last)
        r->last->next = c;
    r->last = c;
    c->next = NULL;
    c->lines = c->n = 0;
    return c;
}

/* Room for an item of n words. */
static uint64_t *put(struct gt_exlog_vcpu *v, size_t n)
{
    struct ring *r = v->sink;
    struct chunk *c = r->last;
    if (__builtin_expect(CHUNK - c->n < n, 0))
        c = next_chunk(r, v->recorder->last.lines);
    uint64_t *at = c->words + c->n;
    c->n += n;
    return at;
}

static void lines(struct gt_exlog_vcpu *v, const struct gt_exlog_block *b, size_t from, size_t to)
{
    struct ring *r = v->sink;
    uint64_t *at = put(v, 3);
    at[0] = LINES;
    at[1] = (uintptr_t)b;
    at[2] = from | (uint64_t)to << 32;
    r->last->lines += to - from;
    r->lines += to - from;
}

static void put_access(struct gt_exlog_vcpu *v, const struct gt_exlog_access *a)
{
    uint64_t *at = put(v, a->has_value ? 5 : 3);
    at[0] = ACCESS | (a->store ? STORE : 0) | (a->has_value ? VALUE : 0) | (uint64_t)a->size << 8;
    at[1] = a->address;
    at[2] = a->region ? (uintptr_t)g_intern_string(a->region) : 0;
    if (a->has_value)
        memcpy(at + 3, a->value, sizeof a->value);
}

static void change(struct gt_exlog_vcpu *v, const struct gt_exlog_register *reg,
                   const uint8_t *bytes, size_t n)
{
    size_t words = (n + 7) / 8;
    if (2 + words > CHUNK)
        return;
    uint64_t *at = put(v, 2 + words);
    at[0] = CHANGE | n << 8;
    at[1] = (uintptr_t)reg;
    memcpy(at + 2, bytes, n);
}

static void complete(struct gt_exlog_vcpu *v)
{
    *put(v, 1) = COMPLETE;
}

/* Delivers an item downstream, without the first `skip` lines; *some: a line was delivered. Returns
 * the item's words. */
static size_t deliver_item(struct gt_exlog_vcpu *v, const uint64_t *at, uint64_t *skip, bool *some)
{
    const struct gt_exlog_sink *downstream = downstream_of(v);
    if ((at[0] & 7) == LINES) {
        size_t from = (uint32_t)at[2], to = at[2] >> 32;
        uint64_t less = *skip < to - from ? *skip : to - from;
        *skip -= less;
        *some = from + less < to;
        if (*some)
            downstream->lines(v, (const void *)(uintptr_t)at[1], from + less, to);
        return 3;
    }
    if ((at[0] & 7) == ACCESS) {
        struct gt_exlog_access a = {
            .store = at[0] & STORE,
            .size = (uint8_t)(at[0] >> 8),
            .address = at[1],
            .region = (const char *)(uintptr_t)at[2],
            .has_value = at[0] & VALUE,
        };
        if (a.has_value)
            memcpy(a.value, at + 3, sizeof a.value);
        if (*some)
            downstream->access(v, &a);
        return a.has_value ? 5 : 3;
    }
    if ((at[0] & 7) == CHANGE) {
        size_t n = at[0] >> 8;
        if (*some)
            downstream->change(v, (const void *)(uintptr_t)at[1], (const uint8_t *)(at + 2), n);
        return 2 + (n + 7) / 8;
    }
    if (*some)
        downstream->complete(v);
    return 1;
}

void gt_exlog_last_deliver(struct gt_exlog_vcpu *v)
{
    struct ring *r = v->sink;
    uint64_t most = v->recorder->last.lines, skip = r->lines > most ? r->lines - most : 0;
    bool some = false;
    v->sink = r->downstream;
    for (struct chunk *c = r->first; c; c = c->next)
        for (size_t at = 0; at < c->n;)
            at += deliver_item(v, c->words + at, &skip, &some);
    v->sink = r;
    while (r->first != r->last) {
        struct chunk *next = r->first->next;
        free(r->first);
        r->first = next;
    }
    r->last->n = r->last->lines = r->lines = 0;
}

static void set_needed(struct gt_exlog_vcpu *v)
{
    const struct ring *r = v->sink;
    for (const struct chunk *c = r->first; c; c = c->next)
        for (size_t at = 0; at < c->n;) {
            uint64_t skip = UINT64_MAX;
            bool some = false;
            if ((c->words[at] & 7) == LINES)
                ((struct gt_exlog_block *)(uintptr_t)c->words[at + 1])->needed = true;
            at += deliver_item(v, c->words + at, &skip, &some);
        }
}

static void end(struct gt_exlog_vcpu *v)
{
    struct ring *r = v->sink;
    gt_exlog_last_deliver(v);
    v->sink = r->downstream;
    downstream_of(v)->end(v);
    free(r->last);
    free(r);
}

/* Hands over the lines delivered downstream; the ring stays. */
static void hand_over(struct gt_exlog_vcpu *v)
{
    struct ring *r = v->sink;
    v->sink = r->downstream;
    downstream_of(v)->hand_over(v);
    r->downstream = v->sink;
    v->sink = r;
}

static void fork_prepare(struct gt_exlog *e)
{
    if (e->last.downstream->fork_prepare)
        e->last.downstream->fork_prepare(e);
}

static void fork_done(struct gt_exlog *e)
{
    if (e->last.downstream->fork_done)
        e->last.downstream->fork_done(e);
}

static const struct gt_exlog_sink last = {
    .begin = begin,
    .describe = describe,
    .forget = forget,
    .lines = lines,
    .access = put_access,
    .change = change,
    .complete = complete,
    .end = end,
    .hand_over = hand_over,
    .set_needed = set_needed,
    .fork_prepare = fork_prepare,
    .fork_done = fork_done,
};

void gt_exlog_last_insert(struct gt_exlog *e)
{
    e->last.downstream = e->sink;
    e->sink = &last;
}
