/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree of calls, made by a scan: each worker thread makes one of what it reads, with the node
 * that each task is in; then they are added. See tree.h.
 */
#include "calls/profile/tree.h"

#include "calls/profile/functions.h"
#include "calls/profile/tree_nodes.h"

#include <stdlib.h>

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
