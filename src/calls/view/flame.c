/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flame graphs: the tree of calls of a range, or of the callers of what took the time; small
 * nodes are summed up. */
#include "calls/view/private.h"

#include "calls/profile/select.h"

enum { INVERSE_DEPTH = 64 }; /* callers of callers */

/* The part of a tree that is shown. */
struct flame {
    const struct gt_profile_tree *tree;
    struct gt_json *json;
    uint64_t *value; /* of each node: its width */
    uint64_t least;
};

uint64_t *gt_view_tree_times(const struct gt_profile_tree *t)
{
    uint64_t *value = g_new0(uint64_t, t->n + 1);
    for (size_t i = 0; i < t->n; i++)
        value[i] = t->node[i].total;
    return value;
}

uint64_t *gt_view_tree_calls(const struct gt_profile_tree *t, bool inverse)
{
    uint64_t *value = g_new0(uint64_t, t->n + 1);
    for (uint32_t i = (uint32_t)t->n; i-- > 0;) {
        const struct gt_profile_tree_node *n = &t->node[i];
        if (n->parent == GT_TREE_NONE)
            continue;
        value[i] = inverse ? n->calls : value[i] + n->calls;
        if (!inverse || n->depth == 1)
            value[n->parent] += value[i];
    }
    return value;
}

/* depth, function (below 0: minus the number of paths that are summed up), value, calls, total,
 * self, open; of `sums` the last four are taken. */
static void put_node(const struct flame *f, uint32_t depth, int64_t function, uint64_t value,
                     const struct gt_profile_tree_node *sums)
{
    gt_json_u64(f->json, depth);
    gt_json_i64(f->json, function);
    gt_json_u64(f->json, value);
    gt_json_u64(f->json, sums->calls);
    gt_json_u64(f->json, sums->total);
    gt_json_i64(f->json, sums->self);
    gt_json_u64(f->json, sums->open);
}

/* Children of a node that are too small, as one. */
static void put_small(const struct flame *f, uint32_t node, uint32_t top)
{
    const struct gt_profile_tree_node *n = f->tree->node;
    struct gt_profile_tree_node sum = {0};
    uint64_t value = 0;
    int64_t paths = 0;
    for (uint32_t i = node + 1; i < n[node].end; i = n[i].end)
        if (f->value[i] < f->least) {
            value += f->value[i];
            sum.calls += n[i].calls;
            sum.open += n[i].open;
            sum.total += n[i].total;
            paths++;
        }
    if (paths)
        put_node(f, n[node].depth + 1 - top, -paths, value, &sum);
}

static void put_tree(const struct flame *f, uint32_t top)
{
    const struct gt_profile_tree_node *n = f->tree->node;
    for (uint32_t i = top; i < n[top].end;) {
        if (i != top && f->value[i] < f->least) {
            i = n[i].end;
            continue;
        }
        put_node(f, n[i].depth - n[top].depth,
                 n[i].parent == GT_TREE_NONE ? 0 : (int64_t)n[i].function, f->value[i], &n[i]);
        put_small(f, i, n[top].depth);
        i++;
    }
}

/* Functions of one name and module are one in a tree: which of them is there depends on how far the
 * recording was read. */
static bool same(const struct gt_calls *c, uint32_t a, uint32_t b)
{
    const struct gt_calls_function *x = gt_calls_function(c, a), *y = gt_calls_function(c, b);
    return a == b || (strcmp(x->name, y->name) == 0 && strcmp(x->module, y->module) == 0);
}

/* The node that a path of functions leads to, from the root; GT_TREE_NONE: there is none. */
static uint32_t node_at(const struct gt_profile_tree *t, const struct gt_calls *c,
                        const GArray *path)
{
    uint32_t at = 0;
    for (guint k = 0; k < path->len; k++) {
        uint32_t i = at + 1;
        while (i < t->node[at].end &&
               !same(c, t->node[i].function, g_array_index(path, uint32_t, k)))
            i = t->node[i].end;
        if (i >= t->node[at].end)
            return GT_TREE_NONE;
        at = i;
    }
    return at;
}

static int put_flame(const struct gt_profile_tree *t, const struct gt_calls *c, const GArray *path,
                     uint64_t *value, struct gt_json *j, struct gt_error *err)
{
    struct flame f = {.tree = t, .json = j, .value = value};
    const uint32_t top = t->n ? node_at(t, c, path) : 0;
    if (top == GT_TREE_NONE)
        return gt_error_set(err, GT_E_USAGE, "parameter path: there is no such path of calls");
    gt_json_resume(j);
    gt_json_begin_object(j);
    gt_view_put(j, "paths", t->n ? t->node[top].end - top : 0);
    gt_json_key(j, "nodes");
    gt_json_begin_array(j);
    if (t->n) {
        f.least = MAX(value[top] / GT_VIEW_SMALLEST, 1);
        put_tree(&f, top);
    }
    gt_json_end_array(j);
    gt_json_end_object(j);
    gt_json_commit(j);
    return 0;
}

int gt_view_tree_inverse(const struct gt_profile_tree *t, struct gt_calls *c,
                         struct gt_profile_tree *out, struct gt_error *err)
{
    uint64_t own = 0;
    for (uint32_t i = 0; i < t->n; i++)
        own += (uint64_t)t->node[i].self;
    int status = gt_profile_tree_inverse(t, c, INVERSE_DEPTH, own / GT_VIEW_SMALLEST, out);
    return status < 0 ? gt_error_set(err, status, "out of memory") : 0;
}

struct how {
    uint64_t inverse;
    bool by_calls;
};

static int flame_of(struct gt_view *v, const struct gt_profile_tree *tree, const struct how *how,
                    const GArray *path, struct gt_json *j, struct gt_error *err)
{
    struct gt_profile_tree callers = {0};
    if (how->inverse) {
        int status = gt_view_tree_inverse(tree, v->calls, &callers, err);
        if (status < 0)
            return status;
        tree = &callers;
    }
    g_autofree uint64_t *value =
        how->by_calls ? gt_view_tree_calls(tree, how->inverse) : gt_view_tree_times(tree);
    int status = put_flame(tree, v->calls, path, value, j, err);
    gt_profile_tree_clear(&callers);
    return status;
}

/* inverse=1: callers; path: functions from the root to the one that is shown; by=calls. */
int gt_view_flame(struct gt_view *v, const struct gt_view_query *q, struct gt_json *j,
                  struct gt_error *err)
{
    const char *by = q->value(q->self, "by");
    struct gt_view_range r = {0};
    struct how how = {.by_calls = by && strcmp(by, "calls") == 0};
    g_autoptr(GArray) path = NULL;
    int status = gt_view_list(q, "path", gt_calls_n_functions(v->calls), &path, err);
    if (status == 0)
        status = gt_view_number(q, "inverse", 1, &how.inverse, err);
    if (status == 0)
        status = gt_view_range_get(v, q, &r, err);
    if (status == 0) {
        const struct gt_profile_tree *tree;
        status = gt_view_tree_get(v, &r, &tree, err);
        if (status == 0)
            status = flame_of(v, tree, &how, path, j, err);
        gt_view_tree_done(v);
    }
    gt_view_range_clear(&r);
    return status;
}
