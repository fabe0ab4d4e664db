/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree of calls, made by a scan: each worker thread makes one of what it reads, with the node
 * that each task is in; then they are added. See tree.h.
 */
#include "calls/profile/tree.h"

#include "base/search.h"
#include "calls/profile/functions.h"
#include "calls/profile/tree_nodes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- nodes ---------------------------------------------------------------------------------- */

/* A node lies in one line of the processor's cache. */
enum { FIRST_NODES = 1024 };
_Static_assert(sizeof(struct gt_profile_tree_found) == 64, "a node is a line");

/* The pages before, with zeros after them. NULL: no memory. Trees of millions of nodes are what
 * these are for: page faults took a third of the time, huge pages take nearly all of that away. */
static void *grow_pages(void *before, size_t had, size_t size)
{
    void *p = before ? mremap(before, had, size, MREMAP_MAYMOVE)
                     : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    madvise(p, size, MADV_HUGEPAGE); /* where there are none it makes no difference */
    return p;
}

static void free_pages(void *p, size_t size)
{
    if (p)
        munmap(p, size);
}

void gt_profile_tree_nodes_clear(struct gt_profile_tree_nodes *t)
{
    free_pages(t->node, t->cap * sizeof *t->node);
    free_pages(t->slot, t->slots * sizeof *t->slot);
    *t = (struct gt_profile_tree_nodes){0};
}

static size_t slot_of(const struct gt_profile_tree_nodes *t, uint32_t parent, uint32_t function)
{
    uint64_t key = (uint64_t)parent << 32 | function;
    key = (key ^ key >> 29) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(key >> 20 ^ key >> 43) & (t->slots - 1);
}

static void fill_slots(struct gt_profile_tree_nodes *t)
{
    for (size_t i = 0; i < t->n; i++) {
        size_t s = slot_of(t, t->node[i].parent, t->node[i].function);
        while (t->slot[s])
            s = (s + 1) & (t->slots - 1);
        t->slot[s] = (uint32_t)i + 1;
    }
}

/* Half of the slots stay free. */
static bool grow(struct gt_profile_tree_nodes *t)
{
    const size_t cap = t->cap ? 2 * t->cap : FIRST_NODES;
    if (cap > GT_TREE_NONE)
        return false;
    uint32_t *slot = grow_pages(NULL, 0, 2 * cap * sizeof *slot);
    struct gt_profile_tree_found *node =
        slot ? grow_pages(t->node, t->cap * sizeof *node, cap * sizeof *node) : NULL;
    if (!node) {
        free_pages(slot, 2 * cap * sizeof *slot);
        return false;
    }
    free_pages(t->slot, t->slots * sizeof *slot);
    t->node = node;
    t->slot = slot;
    t->slots = 2 * cap;
    t->cap = cap;
    fill_slots(t);
    return true;
}

uint32_t gt_profile_tree_nodes_find(struct gt_profile_tree_nodes *t, uint32_t parent,
                                    uint32_t function)
{
    if (t->n == t->cap && !grow(t))
        return GT_TREE_NONE;
    size_t s = slot_of(t, parent, function);
    uint32_t i;
    for (; t->slot[s]; s = (s + 1) & (t->slots - 1)) {
        i = t->slot[s] - 1;
        if (t->node[i].parent == parent && t->node[i].function == function)
            break;
    }
    if (!t->slot[s]) {
        i = (uint32_t)t->n++;
        t->slot[s] = i + 1;
        t->node[i] = (struct gt_profile_tree_found){
            .first = UINT64_MAX,
            .function = function,
            .parent = parent,
            .depth = parent == GT_TREE_NONE ? 0 : t->node[parent].depth + 1,
            .recent = GT_TREE_NONE,
        };
    }
    if (parent != GT_TREE_NONE)
        t->node[parent].recent = i;
    return i;
}

int gt_profile_tree_nodes_add(struct gt_profile_tree_nodes *t,
                              const struct gt_profile_tree_nodes *from, const uint32_t *map)
{
    uint32_t *to = malloc((from->n + 1) * sizeof *to);
    if (!to)
        return GT_E_NOMEM;
    for (size_t i = 0; i < from->n; i++) {
        const struct gt_profile_tree_found *f = &from->node[i];
        bool root = f->parent == GT_TREE_NONE;
        to[i] = gt_profile_tree_nodes_find(t, root ? GT_TREE_NONE : to[f->parent],
                                           map && !root ? map[f->function] : f->function);
        if (to[i] == GT_TREE_NONE) {
            free(to);
            return GT_E_RANGE;
        }
        struct gt_profile_tree_found *sum = &t->node[to[i]];
        sum->calls += f->calls;
        sum->open += f->open;
        sum->total += f->total;
        sum->slept += f->slept;
        sum->self += f->self;
        sum->first = f->first < sum->first ? f->first : sum->first;
    }
    free(to);
    return 0;
}

/* ---- order ---------------------------------------------------------------------------------- */

void gt_profile_tree_clear(struct gt_profile_tree *t)
{
    free(t->node);
    free(t->root);
    *t = (struct gt_profile_tree){0};
}

struct sorting {
    const struct gt_profile_tree_nodes *nodes;
    const struct gt_calls *calls;
    enum gt_profile_tree_order order;
    uint32_t *child;   /* nodes, a parent's side by side */
    uint32_t *begin;   /* where the children of each node begin in `child`; one more at the end */
    size_t first_root; /* in `child`: roots stand at its end */
};

static int compare_functions(const struct gt_calls *c, uint32_t a, uint32_t b)
{
    const struct gt_calls_function *fa = gt_calls_function(c, a), *fb = gt_calls_function(c, b);
    int order = strcmp(fa->name, fb->name);
    if (order == 0)
        order = strcmp(fa->module, fb->module);
    return order ? order : gt_base_search_compare(fa->address, fb->address);
}

static int compare(const void *pa, const void *pb, void *arg)
{
    const struct sorting *s = arg;
    const struct gt_profile_tree_found *a = &s->nodes->node[*(const uint32_t *)pa];
    const struct gt_profile_tree_found *b = &s->nodes->node[*(const uint32_t *)pb];
    if (a->parent == GT_TREE_NONE)
        return gt_base_search_compare(a->function, b->function);
    int order = s->order == GT_TREE_BY_FIRST ? gt_base_search_compare(a->first, b->first)
                                             : gt_base_search_compare(b->total, a->total);
    if (order == 0 && s->order == GT_TREE_BY_TOTAL)
        order = gt_base_search_compare(b->calls, a->calls);
    return order ? order : compare_functions(s->calls, a->function, b->function);
}

/* Groups the nodes by parent, roots last. */
static void group(struct sorting *s)
{
    const struct gt_profile_tree_nodes *t = s->nodes;
    for (size_t i = 0; i < t->n; i++)
        if (t->node[i].parent != GT_TREE_NONE)
            s->begin[t->node[i].parent + 1]++;
    for (size_t i = 0; i < t->n; i++)
        s->begin[i + 1] += s->begin[i];
    s->first_root = s->begin[t->n];
    size_t root = s->first_root;
    for (size_t i = t->n; i-- > 0;) { /* begin[p + 1], the end of p's, becomes its begin */
        uint32_t p = t->node[i].parent;
        if (p == GT_TREE_NONE)
            s->child[root++] = (uint32_t)i;
        else
            s->child[--s->begin[p + 1]] = (uint32_t)i;
    }
}

/* After group() the children of i begin at begin[i + 1] and end where the children of i + 1 begin.
 */
static size_t children(const struct sorting *s, size_t i, const uint32_t **first)
{
    size_t begin = s->begin[i + 1];
    size_t end = i + 1 < s->nodes->n ? s->begin[i + 2] : s->first_root;
    *first = s->child + begin;
    return end - begin;
}

static void sort(struct sorting *s)
{
    for (size_t i = 0; i < s->nodes->n; i++) {
        const uint32_t *first;
        size_t n = children(s, i, &first);
        if (n > 1)
            qsort_r(s->child + (first - s->child), n, sizeof *first, compare, s);
    }
    qsort_r(s->child + s->first_root, s->nodes->n - s->first_root, sizeof *s->child, compare, s);
}

static void put_node(const struct sorting *s, uint32_t found, uint32_t parent,
                     struct gt_profile_tree *out)
{
    const struct gt_profile_tree_found *f = &s->nodes->node[found];
    struct gt_profile_tree_node *to = &out->node[out->n++];
    *to = (struct gt_profile_tree_node){
        .calls = f->calls,
        .open = f->open,
        /* below 0: of a call whose end is damaged only what it slept is known */
        .total = (int64_t)f->total < 0 ? 0 : f->total,
        .slept = f->slept,
        .self = f->self,
        .first = f->first,
        .function = parent == GT_TREE_NONE ? GT_TREE_NONE : f->function,
        .parent = parent,
        .depth = f->depth};
}

/* A root and all below it. `stack` has room for all nodes: those that come, the next one last; of
 * each also its parent in `out`. */
static void put_tree(const struct sorting *s, uint32_t root, uint32_t (*stack)[2],
                     struct gt_profile_tree *out)
{
    size_t left = 1;
    stack[0][0] = root;
    stack[0][1] = GT_TREE_NONE;
    while (left) {
        uint32_t at = (uint32_t)out->n, found = stack[--left][0];
        put_node(s, found, stack[left][1], out);
        const uint32_t *first;
        for (size_t n = children(s, found, &first); n-- > 0; left++) {
            stack[left][0] = first[n];
            stack[left][1] = at;
        }
    }
}

/* Ends of subtrees; sums of roots. */
static void complete(struct gt_profile_tree *out)
{
    for (size_t i = out->n; i-- > 0;) {
        struct gt_profile_tree_node *node = &out->node[i];
        if (node->end == 0)
            node->end = (uint32_t)i + 1;
        if (node->parent == GT_TREE_NONE)
            continue;
        struct gt_profile_tree_node *parent = &out->node[node->parent];
        if (parent->end < node->end)
            parent->end = node->end;
        if (parent->parent == GT_TREE_NONE) {
            parent->calls += node->calls;
            parent->open += node->open;
            parent->total += node->total;
            parent->slept += node->slept;
            parent->first = node->first < parent->first ? node->first : parent->first;
        }
    }
}

static int fill(struct sorting *s, struct gt_profile_tree *out)
{
    size_t n = s->nodes->n;
    uint32_t(*stack)[2] = malloc((n + 1) * sizeof *stack);
    if (!stack)
        return GT_E_NOMEM;
    group(s);
    sort(s);
    for (size_t i = s->first_root; i < n; i++) {
        uint32_t root = s->child[i], at = (uint32_t)out->n;
        const uint32_t *first;
        if (children(s, root, &first) == 0)
            continue;
        out->root[out->n_roots++] =
            (struct gt_profile_tree_root){at, s->nodes->node[root].function};
        put_tree(s, root, stack, out);
    }
    free(stack);
    complete(out);
    return 0;
}

int gt_profile_tree_nodes_finish(const struct gt_profile_tree_nodes *t, const struct gt_calls *c,
                                 enum gt_profile_tree_order order, struct gt_profile_tree *out)
{
    struct sorting s = {.nodes = t, .calls = c, .order = order};
    size_t roots = 0;
    for (size_t i = 0; i < t->n; i++)
        roots += t->node[i].parent == GT_TREE_NONE;
    *out = (struct gt_profile_tree){.node = malloc((t->n + 1) * sizeof *out->node),
                                    .root = malloc((roots + 1) * sizeof *out->root)};
    s.child = malloc((t->n + 1) * sizeof *s.child);
    s.begin = calloc(t->n + 2, sizeof *s.begin);
    int status = GT_E_NOMEM;
    if (out->node && out->root && s.child && s.begin)
        status = fill(&s, out);
    free(s.child);
    free(s.begin);
    if (status < 0)
        gt_profile_tree_clear(out);
    return status;
}

/* ---- making --------------------------------------------------------------------------------- */

struct making {
    struct gt_calls *calls;
    enum gt_profile_tree_groups groups;
    bool wall;                          /* of the window */
    struct gt_profile_tree_nodes nodes; /* of all shares that were merged */
};

struct share {
    const struct making *making;
    struct gt_profile_tree_nodes nodes;
    uint32_t *at; /* of each task, the node of its innermost open call */
};

static void free_share(struct share *s)
{
    gt_profile_tree_nodes_clear(&s->nodes);
    free(s->at);
    free(s);
}

static void *make_share(void *self)
{
    const struct making *m = self;
    struct share *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->making = m;
    s->at = calloc(gt_calls_n_tasks(m->calls) + 1, sizeof *s->at);
    if (s->at)
        return s;
    free_share(s);
    return NULL;
}

static uint32_t group_of(const struct making *m, uint32_t task)
{
    switch (m->groups) {
    case GT_TREE_OF_TASKS:
        return task;
    case GT_TREE_OF_PROCESSES:
        return gt_calls_task(m->calls, task)->process;
    default:
        return 0;
    }
}

static bool is_node(const struct making *m, uint32_t function)
{
    return m->wall || !gt_call_suspends(function);
}

/* The node of the calls that are open where a stretch begins. */
static int begin_stretch(struct share *s, const struct gt_calls_batch *b)
{
    uint32_t at = gt_profile_tree_nodes_find(&s->nodes, GT_TREE_NONE, group_of(s->making, b->task));
    for (size_t i = 0; i < b->n_open && at != GT_TREE_NONE; i++)
        if (is_node(s->making, b->open[i].function))
            at = gt_profile_tree_nodes_child(&s->nodes, at, b->open[i].function);
    s->at[b->task] = at;
    return at == GT_TREE_NONE ? GT_E_RANGE : 0;
}

/* The call of that depth, which is open. */
static struct gt_profile_tree_found *open_at(struct gt_profile_tree_nodes *t, uint32_t at,
                                             uint32_t depth)
{
    struct gt_profile_tree_found *node = &t->node[at];
    while (node->depth > depth + 1)
        node = &t->node[node->parent];
    return node;
}

static uint32_t leave(struct gt_profile_tree_nodes *t, uint32_t at, const struct gt_call *e)
{
    struct gt_profile_tree_found *node = &t->node[at];
    node->calls++;
    node->total += gt_call_ran(e);
    node->slept += e->slept;
    node->self += e->self;
    if (e->begin < node->first)
        node->first = e->begin;
    return node->parent;
}

/* A part of a call that goes on. */
static void add_part(struct gt_profile_tree_nodes *t, uint32_t at, const struct gt_call *e)
{
    struct gt_profile_tree_found *node = open_at(t, at, e->depth);
    node->self += e->self;
    node->total -= e->slept;
    node->slept += e->slept;
}

static int take_batch(void *share, const struct gt_calls_batch *b)
{
    struct share *s = share;
    if (b->first && begin_stretch(s, b) < 0)
        return GT_E_RANGE;
    uint32_t at = s->at[b->task];
    const uint64_t first_end = gt_calls_first_end(s->making->calls, b->task);
    for (size_t i = 0; i < b->n; i++) {
        const struct gt_call *e = &b->call[i];
        if (!is_node(s->making, e->function))
            continue;
        if (gt_call_may_be_open(e, first_end))
            s->nodes.node[at].open += gt_calls_is_open(s->making->calls, e);
        if (e->kind == GT_CALL_ENTRY)
            at = gt_profile_tree_nodes_child(&s->nodes, at, e->function);
        else if (e->kind == GT_CALL_EXIT)
            at = leave(&s->nodes, at, e);
        else if (e->kind == GT_CALL_SPLIT)
            add_part(&s->nodes, at, e);
        if (at == GT_TREE_NONE)
            return GT_E_RANGE;
    }
    s->at[b->task] = at;
    return 0;
}

static int merge_share(void *self, void *share)
{
    struct making *m = self;
    struct share *s = share;
    int status = 0;
    if (m && m->nodes.n == 0) { /* the first one */
        gt_profile_tree_nodes_clear(&m->nodes);
        m->nodes = s->nodes;
        s->nodes = (struct gt_profile_tree_nodes){0};
    } else if (m) {
        status = gt_profile_tree_nodes_add(&m->nodes, &s->nodes, NULL);
    }
    free_share(s);
    return status;
}

/* Makes functions of one name and module one, where there are such. */
static int join_names(struct making *m)
{
    uint32_t *first;
    bool any;
    int status = gt_profile_same_names(m->calls, &first, &any);
    if (status < 0)
        return status;
    struct gt_profile_tree_nodes joined = {0};
    if (any)
        status = gt_profile_tree_nodes_add(&joined, &m->nodes, first);
    free(first);
    if (!any)
        return 0;
    if (status < 0) {
        gt_profile_tree_nodes_clear(&joined);
        return status;
    }
    gt_profile_tree_nodes_clear(&m->nodes);
    m->nodes = joined;
    return 0;
}

static int explain(int status, struct gt_error *err)
{
    if (status == GT_E_RANGE)
        return gt_error_set(err, status,
                            "too many different paths of calls for this machine's memory; limit "
                            "their depth");
    return status == GT_E_NOMEM ? gt_error_set(err, status, "out of memory") : status;
}

int gt_profile_tree_make(struct gt_calls *c, const struct gt_profile_tree_options *o,
                         struct gt_profile_tree *out, struct gt_error *err)
{
    static const struct gt_profile_tree_options whole;
    static const struct gt_calls_consumer consumer = {make_share, take_batch, merge_share};
    if (!o)
        o = &whole;
    *out = (struct gt_profile_tree){0};
    struct making m = {.calls = c, .groups = o->groups, .wall = o->window && o->window->wall};
    struct gt_error scan_err = {0};
    int status = gt_calls_scan(c, o->window, &consumer, &m, o->threads, &scan_err);
    if (status < 0 && scan_err.status)
        status = gt_error_set(err, status, "%s", scan_err.text);
    else {
        if (status >= 0 && o->by_name)
            status = join_names(&m);
        if (status >= 0)
            status = gt_profile_tree_nodes_finish(&m.nodes, c, o->order, out);
        if (status < 0)
            explain(status, err);
    }
    gt_profile_tree_nodes_clear(&m.nodes);
    return status < 0 ? status : 0;
}
