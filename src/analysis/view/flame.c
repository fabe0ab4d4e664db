/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flame graphs: the tree of calls of a range, or of the callers of what took the time; what is
 * small is summed up. */
#include "analysis/view/private.h"

#include "analysis/profile/select.h"

enum {
    SMALLEST = 2000,    /* a node that has less than this part of all is summed up */
    INVERSE_DEPTH = 64, /* callers of callers */
};

enum value { BY_TIME, BY_CALLS };

/* The part of a tree that is shown. */
struct flame {
    const struct gt_tree *tree;
    struct gt_json *json;
    uint64_t least;
    enum value value;
};

static uint64_t value_of(const struct flame *f, uint32_t node)
{
    const struct gt_tree_node *n = &f->tree->node[node];
    return f->value == BY_CALLS ? n->calls : n->total;
}

/* Those of calls below a node, its own where it is not the root. By time: total has them. */
static uint64_t all_of(const struct flame *f, uint32_t node)
{
    uint64_t sum = 0;
    const struct gt_tree_node *n = f->tree->node;
    if (f->value == BY_TIME || n[node].parent != GT_TREE_NONE)
        sum = value_of(f, node);
    for (uint32_t i = node + 1; sum == 0 && i < n[node].end; i = n[i].end)
        sum += value_of(f, i);
    return sum;
}

/* depth, function (-1: so many paths, summed up), calls, total, self */
static void put_node(const struct flame *f, uint32_t depth, int64_t function, uint64_t calls,
                     uint64_t total, int64_t self)
{
    gt_json_u64(f->json, depth);
    gt_json_i64(f->json, function);
    gt_json_u64(f->json, calls);
    gt_json_u64(f->json, total);
    gt_json_i64(f->json, self);
}

/* Children of a node that are too small, as one. */
static void put_small(const struct flame *f, uint32_t node, uint32_t top)
{
    const struct gt_tree_node *n = f->tree->node;
    uint64_t calls = 0, total = 0;
    int64_t paths = 0;
    for (uint32_t i = node + 1; i < n[node].end; i = n[i].end)
        if (value_of(f, i) < f->least) {
            calls += n[i].calls;
            total += n[i].total;
            paths++;
        }
    if (paths)
        put_node(f, n[node].depth + 1 - top, -paths, calls, total, 0);
}

static void put_tree(const struct flame *f, uint32_t top)
{
    const struct gt_tree_node *n = f->tree->node;
    for (uint32_t i = top; i < n[top].end;) {
        if (i != top && value_of(f, i) < f->least) {
            i = n[i].end;
            continue;
        }
        put_node(f, n[i].depth - n[top].depth,
                 n[i].parent == GT_TREE_NONE ? 0 : (int64_t)n[i].function, n[i].calls, n[i].total,
                 n[i].self);
        put_small(f, i, n[top].depth);
        i++;
    }
}

/* The node that a path of functions leads to, from the root; GT_TREE_NONE: there is none. */
static uint32_t node_at(const struct gt_tree *t, const GArray *path)
{
    uint32_t at = 0;
    for (guint k = 0; k < path->len; k++) {
        uint32_t i = at + 1;
        while (i < t->node[at].end && t->node[i].function != g_array_index(path, uint32_t, k))
            i = t->node[i].end;
        if (i >= t->node[at].end)
            return GT_TREE_NONE;
        at = i;
    }
    return at;
}

static int put_flame(const struct gt_tree *t, const GArray *path, enum value value,
                     struct gt_json *j, struct gt_error *err)
{
    struct flame f = {.tree = t, .json = j, .value = value};
    const uint32_t top = t->n ? node_at(t, path) : 0;
    if (top == GT_TREE_NONE)
        return gt_error_set(err, GT_E_USAGE, "parameter path: there is no such path of calls");
    gt_json_resume(j);
    gt_json_begin_object(j);
    gt_view_put(j, "paths", t->n ? t->node[top].end - top : 0);
    gt_json_key(j, "nodes");
    gt_json_begin_array(j);
    if (t->n) {
        f.least = MAX(all_of(&f, top) / SMALLEST, 1);
        put_tree(&f, top);
    }
    gt_json_end_array(j);
    gt_json_end_object(j);
    gt_json_commit(j);
    return 0;
}

/* inverse=1: callers; path: functions from the root to the one that is shown; by=calls. */
int gt_view_flame(struct gt_view *v, const struct gt_view_query *q, struct gt_json *j,
                  struct gt_error *err)
{
    const char *by = q->value(q->self, "by");
    struct gt_view_range r = {0};
    g_autoptr(GArray) path = NULL;
    uint64_t inverse = 0;
    int status = gt_view_list(q, "path", gt_calls_n_functions(v->calls), &path, err);
    if (status == 0)
        status = gt_view_number(q, "inverse", 1, &inverse, err);
    if (status == 0)
        status = gt_view_range_get(v, q, &r, err);
    if (status < 0) {
        gt_view_range_clear(&r);
        return status;
    }
    const enum value value = by && strcmp(by, "calls") == 0 ? BY_CALLS : BY_TIME;
    const struct gt_tree *tree;
    struct gt_tree callers = {0};
    status = gt_view_tree_get(v, &r, &tree, err);
    if (status == 0 && inverse) {
        status = gt_tree_inverse(tree, v->calls, INVERSE_DEPTH, SMALLEST, &callers);
        if (status < 0)
            gt_error_set(err, status, "out of memory");
        tree = &callers;
    }
    if (status == 0)
        status = put_flame(tree, path, value, j, err);
    gt_view_tree_done(v);
    gt_tree_clear(&callers);
    gt_view_range_clear(&r);
    return status;
}

/* ---- callers and callees ------------------------------------------------------------------- */

struct sums {
    uint64_t calls, total;
    int64_t self;
};

static void add(struct sums *to, const struct gt_tree_node *n)
{
    to->calls += n->calls;
    to->total += n->total;
    to->self += n->self;
}

static void put_list(struct gt_json *j, const char *key, const struct sums *of, size_t n)
{
    gt_json_key(j, key); /* function, -1: none; calls, total, self */
    gt_json_begin_array(j);
    for (size_t i = 0; i <= n; i++) {
        if (!of[i].calls)
            continue;
        gt_json_i64(j, i < n ? (int64_t)i : -1);
        gt_json_u64(j, of[i].calls);
        gt_json_u64(j, of[i].total);
        gt_json_i64(j, of[i].self);
    }
    gt_json_end_array(j);
}

/* Of all calls of a function: by whom, and what they called. Times of recursive calls count in
 * each: as in the tree. */
static void put_function(const struct gt_tree *t, const bool *wanted, size_t n, struct gt_json *j)
{
    g_autofree struct sums *callers = g_new0(struct sums, n + 1);
    g_autofree struct sums *callees = g_new0(struct sums, n + 1);
    for (uint32_t i = 0; i < t->n; i++) {
        const struct gt_tree_node *node = &t->node[i];
        if (node->parent == GT_TREE_NONE)
            continue;
        const struct gt_tree_node *parent = &t->node[node->parent];
        const bool outermost = parent->parent == GT_TREE_NONE;
        if (wanted[node->function])
            add(&callers[outermost ? n : parent->function], node);
        if (!outermost && wanted[parent->function])
            add(&callees[node->function], node);
    }
    gt_json_resume(j);
    gt_json_begin_object(j);
    put_list(j, "callers", callers, n);
    put_list(j, "callees", callees, n);
    gt_json_end_object(j);
    gt_json_commit(j);
}

/* functions: those of one name. */
int gt_view_function(struct gt_view *v, const struct gt_view_query *q, struct gt_json *j,
                     struct gt_error *err)
{
    struct gt_view_range r = {0};
    g_autoptr(GArray) functions = NULL;
    const struct gt_tree *tree;
    int status = gt_view_list(q, "functions", gt_calls_n_functions(v->calls), &functions, err);
    if (status == 0)
        status = gt_view_range_get(v, q, &r, err);
    if (status == 0) {
        status = gt_view_tree_get(v, &r, &tree, err);
        const size_t n = gt_calls_n_functions(v->calls); /* the tree may have found some */
        g_autofree bool *wanted = g_new0(bool, n + 1);
        for (guint i = 0; i < functions->len; i++)
            wanted[g_array_index(functions, uint32_t, i)] = true;
        if (status == 0)
            put_function(tree, wanted, n, j);
        gt_view_tree_done(v);
    }
    gt_view_range_clear(&r);
    return status;
}
