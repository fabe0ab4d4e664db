/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Selecting the chunks of a query: see select.h. */
#include "execlog/format/select.h"

#include "base/array.h"
#include "base/search.h"
#include "execlog/format/set.h"

#include <inttypes.h>
#include <stdlib.h>

/* A vCPU's chunks that its open line is in and that are not selected; whether the next one is. */
struct chain {
    struct gt_execlog_chunk_ref *v;
    size_t n, cap;
    bool wanted;
};

struct plan {
    struct gt_execlog_reader *r;
    const struct gt_execlog_query *q;
    struct gt_execlog_selection *out;
    struct gt_error *first_damage;
    struct chain *chains; /* by vCPU */
    bool no_memory;
};

/* ---- one chunk ----------------------------------------------------------------------------- */

static void add(struct plan *p, struct gt_execlog_chunk_ref **v, size_t *n, size_t *cap,
                struct gt_execlog_chunk_ref ref)
{
    if (GT_ARRAY_GROW(v, cap, *n + 1))
        (*v)[(*n)++] = ref;
    else
        p->no_memory = true;
}

static void add_events(struct plan *p, struct gt_execlog_chunk_ref ref)
{
    add(p, &p->out->events, &p->out->n_events, &p->out->cap_events, ref);
}

static bool matches(const struct plan *p, const struct gt_execlog_chunk *c, const uint8_t *summary)
{
    const struct gt_execlog_query *q = p->q;
    struct gt_bytes_reader r;
    if (c->first > q->to || (c->count && c->first - 1 + c->count < q->from))
        return false;
    gt_bytes_reader_init(&r, summary, c->summary);
    bool insn = gt_execlog_set_meets(&r, q->insn_lo, q->insn_hi);
    bool access = gt_execlog_set_meets(&r, q->access_lo, q->access_hi);
    return (insn || !q->by_insn) && (access || !q->by_access);
}

static void look_at_events(struct plan *p, const struct gt_execlog_item *i)
{
    const struct gt_execlog_chunk *c = &i->chunk;
    struct chain *chain = &p->chains[c->vcpu];
    struct gt_execlog_chunk_ref ref = {.offset = i->offset};
    bool from_before = c->flags & GT_EXECLOG_FROM_BEFORE;
    if (!from_before) {
        chain->n = 0;
        chain->wanted = false;
    }
    bool match = matches(p, c, i->summary);
    if (match || chain->wanted) {
        for (size_t k = 0; k < chain->n; k++)
            add_events(p, chain->v[k]);
        add_events(p, ref);
        chain->n = 0;
        chain->wanted = match || (chain->wanted && c->count == 0);
    } else {
        chain->n = c->count ? 0 : chain->n; /* the line that is open has begun here */
        add(p, &chain->v, &chain->n, &chain->cap, ref);
    }
    if (!(c->flags & GT_EXECLOG_GOES_ON)) {
        chain->n = 0;
        chain->wanted = false;
    }
}

static void look_at(struct plan *p, const struct gt_execlog_item *i)
{
    const struct gt_execlog_chunk *c = &i->chunk;
    if (c->type == GT_EXECLOG_EVENTS)
        look_at_events(p, i);
    if (c->type == GT_EXECLOG_DEFINITIONS)
        add(p, &p->out->definitions, &p->out->n_definitions, &p->out->cap_definitions,
            (struct gt_execlog_chunk_ref){i->offset, c->first, (uint32_t)c->count, c->names > 0});
}

static void damage(struct plan *p, const struct gt_error *why)
{
    if (p->out->damaged++ == 0)
        *p->first_damage = *why;
}

/* ---- by the chunks' headers ---------------------------------------------------------------- */

static int look_at_headers(struct plan *p, struct gt_error *err)
{
    struct gt_execlog_item item;
    struct gt_error why;
    int status = 0;
    if (!gt_execlog_go(p->r, GT_EXECLOG_HEAD, false))
        return gt_error_set(err, GT_E_UNSUPPORTED, "%.300s: the file cannot be read out of order",
                            gt_execlog_reader_name(p->r));
    while ((status = gt_execlog_next(p->r, &item, &why)) == 1 || status == GT_E_FORMAT) {
        if (status == GT_E_FORMAT)
            damage(p, &why);
        else
            look_at(p, &item);
    }
    if (status == GT_E_TRUNC)
        damage(p, &why);
    p->out->whole = gt_execlog_whole(p->r);
    return status == GT_E_IO ? gt_error_set(err, status, "%s", why.text) : 0;
}

/* ---- by the index -------------------------------------------------------------------------- */

/* Where the indexes are, the last one first. False: they do not lead to the first one. */
static bool find_indexes(struct plan *p, uint64_t last, struct chain *found)
{
    struct gt_execlog_item item;
    for (uint64_t at = last; at; at = item.chunk.other) {
        if (!gt_execlog_go(p->r, at, false) || gt_execlog_next(p->r, &item, NULL) != 1 ||
            item.chunk.type != GT_EXECLOG_INDEX || item.chunk.other >= at)
            return false;
        add(p, &found->v, &found->n, &found->cap, (struct gt_execlog_chunk_ref){.offset = at});
    }
    return !p->no_memory;
}

/* One entry of an index. */
static bool read_entry(struct gt_bytes_reader *r, struct gt_execlog_item *out)
{
    out->offset = gt_execlog_get_number(r);
    const uint8_t *head = gt_bytes_read_bytes(r, GT_EXECLOG_HEAD);
    if (!head || !gt_execlog_get_chunk(head, &out->chunk))
        return false;
    out->summary = gt_bytes_read_bytes(r, out->chunk.summary);
    return out->summary && gt_execlog_chunk_good(head, out->summary, out->chunk.summary);
}

static bool look_at_index(struct plan *p, uint64_t where)
{
    struct gt_execlog_item item, entry;
    const uint8_t *body;
    struct gt_bytes_reader r;
    if (!gt_execlog_go(p->r, where, false) || gt_execlog_next(p->r, &item, NULL) != 1)
        return false;
    if (item.chunk.first > p->q->to) /* nothing in it is asked for */
        return true;
    if (gt_execlog_body(p->r, &item, &body, NULL) < 0)
        return false;
    gt_bytes_reader_init(&r, body, item.chunk.unpacked);
    while (r.left) {
        if (!read_entry(&r, &entry))
            return false;
        look_at(p, &entry);
    }
    return true;
}

static bool look_at_indexes(struct plan *p, uint64_t size)
{
    struct gt_execlog_chunk end;
    struct chain found = {0};
    bool good = gt_execlog_find_end(p->r, size, &end) && find_indexes(p, end.first, &found);
    while (good && found.n)
        good = look_at_index(p, found.v[--found.n].offset);
    free(found.v);
    p->out->whole = good;
    return good;
}

/* ---- the plan ------------------------------------------------------------------------------ */

static int by_offset(const void *a, const void *b)
{
    const struct gt_execlog_chunk_ref *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static void learn_at(struct gt_execlog_reader *r, uint64_t offset)
{
    struct gt_execlog_item item;
    if (gt_execlog_go(r, offset, false) && gt_execlog_next(r, &item, NULL) == 1 &&
        item.chunk.type == GT_EXECLOG_DEFINITIONS)
        gt_execlog_learn(r, &item, NULL);
}

/* Devices and registers: whatever is selected may name them. */
static void learn_names(struct plan *p)
{
    for (size_t i = 0; i < p->out->n_definitions; i++)
        if (p->out->definitions[i].names)
            learn_at(p->r, p->out->definitions[i].offset);
}

static void forget(struct plan *p)
{
    struct gt_execlog_selection *s = p->out;
    for (size_t i = 0; i < GT_EXECLOG_MAX_VCPUS; i++) {
        p->chains[i].n = 0;
        p->chains[i].wanted = false;
    }
    s->n_events = s->n_definitions = 0;
}

int gt_execlog_select(struct gt_execlog_reader *r, uint64_t size, const struct gt_execlog_query *q,
                      struct gt_execlog_selection *out, struct gt_error *first_damage,
                      struct gt_error *err)
{
    *out = (struct gt_execlog_selection){0};
    struct plan p = {.r = r, .q = q, .out = out, .first_damage = first_damage};
    p.chains = calloc(GT_EXECLOG_MAX_VCPUS, sizeof *p.chains);
    int status = 0;
    p.no_memory = !p.chains;
    if (!p.no_memory && !look_at_indexes(&p, size)) {
        forget(&p);
        status = look_at_headers(&p, err);
    }
    for (size_t i = 0; p.chains && i < GT_EXECLOG_MAX_VCPUS; i++)
        free(p.chains[i].v);
    free(p.chains);
    if (p.no_memory)
        status = gt_error_set(err, GT_E_NOMEM, "out of memory");
    if (status < 0) {
        gt_execlog_selection_free(out);
        return status;
    }
    if (out->n_events)
        qsort(out->events, out->n_events, sizeof *out->events, by_offset);
    learn_names(&p);
    return 0;
}

void gt_execlog_selection_learn(const struct gt_execlog_selection *s, struct gt_execlog_reader *r,
                                uint32_t id)
{
    size_t n = GT_SEARCH_BELOW(s->definitions, s->n_definitions, first, (uint64_t)id + 1);
    if (n && id - s->definitions[n - 1].first < s->definitions[n - 1].count)
        learn_at(r, s->definitions[n - 1].offset);
}

void gt_execlog_selection_free(struct gt_execlog_selection *s)
{
    free(s->events);
    free(s->definitions);
    *s = (struct gt_execlog_selection){0};
}
