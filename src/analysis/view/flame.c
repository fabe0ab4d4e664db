/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flame graphs: the tree of calls of a range, or of the callers of what took the time; what is
 * small is summed up. */
#include "analysis/view/private.h"

#include "analysis/profile/select.h"

#include <stdlib.h>

enum {
    SMALLEST = 2000,    /* a node that has less than this part of all is summed up */
    INVERSE_DEPTH = 64, /* callers of callers */
};

/* The part of a tree that is shown. */
struct flame {
    const struct gt_tree *tree;
    struct gt_json *json;
    uint64_t *value; /* of each node: its width */
    uint64_t least;
};

/* The name is the one that spaces.c gives such calls. */
static bool is_suspension(const struct gt_calls *c, const struct gt_tree_node *n)
{
    if (n->parent == GT_TREE_NONE)
        return false;
    const struct gt_calls_function *f = gt_calls_function(c, n->function);
    return g_str_has_prefix(f->name, "linux:schedule") && !*f->module;
}

/* Of each node: the time of its calls; without `waiting`, without that in which tasks were
 * suspended. */
static uint64_t *times_of(const struct gt_tree *t, const struct gt_calls *c, bool inverse,
                          bool waiting)
{
    uint64_t *value = g_new0(uint64_t, t->n + 1), *off = g_new0(uint64_t, t->n + 1);
    for (uint32_t i = (uint32_t)t->n; !waiting && i-- > 0;) {
        const struct gt_tree_node *n = &t->node[i];
        const bool first = n->depth == 1;
        if (inverse && first && is_suspension(c, n))
            for (uint32_t k = i; k < n->end; k++)
                off[k] = t->node[k].total;
        else if (!inverse && is_suspension(c, n))
            off[i] = n->total;
        if (n->parent != GT_TREE_NONE && (!inverse || first))
            off[n->parent] += off[i];
    }
    for (size_t i = 0; i < t->n; i++)
        value[i] = t->node[i].total - MIN(off[i], t->node[i].total);
    g_free(off);
    return value;
}

/* How many calls are on a path and below it; of the inverse tree, whose nodes have those of the
 * function on top, how many those are. */
static uint64_t *calls_of(const struct gt_tree *t, bool inverse)
{
    uint64_t *value = g_new0(uint64_t, t->n + 1);
    for (uint32_t i = (uint32_t)t->n; i-- > 0;) {
        const struct gt_tree_node *n = &t->node[i];
        if (n->parent == GT_TREE_NONE)
            continue;
        value[i] = inverse ? n->calls : value[i] + n->calls;
        if (!inverse || n->depth == 1)
            value[n->parent] += value[i];
    }
    return value;
}

/* depth, function (below 0: minus the number of paths that are summed up), value, calls, total,
 * self */
static void put_node(const struct flame *f, uint32_t depth, int64_t function, uint64_t value,
                     uint64_t calls, uint64_t total, int64_t self)
{
    gt_json_u64(f->json, depth);
    gt_json_i64(f->json, function);
    gt_json_u64(f->json, value);
    gt_json_u64(f->json, calls);
    gt_json_u64(f->json, total);
    gt_json_i64(f->json, self);
}

/* Children of a node that are too small, as one. */
static void put_small(const struct flame *f, uint32_t node, uint32_t top)
{
    const struct gt_tree_node *n = f->tree->node;
    uint64_t value = 0, calls = 0, total = 0;
    int64_t paths = 0;
    for (uint32_t i = node + 1; i < n[node].end; i = n[i].end)
        if (f->value[i] < f->least) {
            value += f->value[i];
            calls += n[i].calls;
            total += n[i].total;
            paths++;
        }
    if (paths)
        put_node(f, n[node].depth + 1 - top, -paths, value, calls, total, 0);
}

static void put_tree(const struct flame *f, uint32_t top)
{
    const struct gt_tree_node *n = f->tree->node;
    for (uint32_t i = top; i < n[top].end;) {
        if (i != top && f->value[i] < f->least) {
            i = n[i].end;
            continue;
        }
        put_node(f, n[i].depth - n[top].depth,
                 n[i].parent == GT_TREE_NONE ? 0 : (int64_t)n[i].function, f->value[i], n[i].calls,
                 n[i].total, n[i].self);
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

static int put_flame(const struct gt_tree *t, const GArray *path, uint64_t *value,
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
        f.least = MAX(value[top] / SMALLEST, 1);
        put_tree(&f, top);
    }
    gt_json_end_array(j);
    gt_json_end_object(j);
    gt_json_commit(j);
    return 0;
}

/* Time that the functions of a tree had of their own, without what was suspended. */
static uint64_t own_time(const struct gt_tree *t, const struct gt_calls *c, bool waiting)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < t->n; i++)
        if (waiting || !is_suspension(c, &t->node[i]))
            sum += (uint64_t)t->node[i].self;
    return sum;
}

struct how {
    uint64_t inverse, waiting;
    bool by_calls;
};

static int flame_of(struct gt_view *v, const struct gt_tree *tree, const struct how *how,
                    const GArray *path, struct gt_json *j, struct gt_error *err)
{
    struct gt_tree callers = {0};
    if (how->inverse) {
        const uint64_t least = own_time(tree, v->calls, how->waiting) / SMALLEST;
        int status = gt_tree_inverse(tree, v->calls, INVERSE_DEPTH, least, &callers);
        if (status < 0)
            return gt_error_set(err, status, "out of memory");
        tree = &callers;
    }
    g_autofree uint64_t *value = how->by_calls
                                     ? calls_of(tree, how->inverse)
                                     : times_of(tree, v->calls, how->inverse, how->waiting);
    int status = put_flame(tree, path, value, j, err);
    gt_tree_clear(&callers);
    return status;
}

/* inverse=1: callers; path: functions from the root to the one that is shown; by=calls; waiting=1:
 * with the time in which tasks were suspended. */
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
        status = gt_view_number(q, "waiting", 1, &how.waiting, err);
    if (status == 0)
        status = gt_view_range_get(v, q, &r, err);
    if (status == 0) {
        const struct gt_tree *tree;
        status = gt_view_tree_get(v, &r, &tree, err);
        if (status == 0)
            status = flame_of(v, tree, &how, path, j, err);
        gt_view_tree_done(v);
    }
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

static void add_edge(GHashTable *edges, const struct gt_tree *t, const struct gt_tree_node *n)
{
    const struct gt_tree_node *parent = &t->node[n->parent];
    const uint32_t caller = parent->parent == GT_TREE_NONE ? UINT32_MAX : parent->function;
    const gint64 key = (gint64)((uint64_t)caller << 32 | n->function);
    struct sums *sum = g_hash_table_lookup(edges, &key);
    if (!sum) {
        sum = g_new0(struct sums, 1);
        g_hash_table_insert(edges, g_memdup2(&key, sizeof key), sum);
    }
    add(sum, n);
}

static int compare_keys(const void *a, const void *b)
{
    const gint64 x = **(const gint64 *const *)a, y = **(const gint64 *const *)b;
    return x < y ? -1 : x > y;
}

static void put_edges(GHashTable *edges, struct gt_json *j)
{
    guint n;
    g_autofree gpointer *keys = g_hash_table_get_keys_as_array(edges, &n);
    qsort(keys, n, sizeof *keys, compare_keys);
    gt_json_resume(j);
    gt_json_begin_object(j);
    gt_json_key(j, "edges");
    gt_json_begin_array(j);
    for (guint i = 0; i < n; i++) {
        const uint64_t key = *(const uint64_t *)keys[i];
        const struct sums *s = g_hash_table_lookup(edges, keys[i]);
        gt_json_i64(j, key >> 32 == UINT32_MAX ? -1 : (int64_t)(key >> 32));
        gt_json_u64(j, key & UINT32_MAX);
        gt_json_u64(j, s->calls);
        gt_json_u64(j, s->total);
        gt_json_i64(j, s->self);
    }
    gt_json_end_array(j);
    gt_json_end_object(j);
    gt_json_commit(j);
}

/* Who calls whom: caller, called, calls, total, self; a caller of -1: none. Sums of `function` for
 * all functions at once. */
int gt_view_edges(struct gt_view *v, const struct gt_view_query *q, struct gt_json *j,
                  struct gt_error *err)
{
    struct gt_view_range r = {0};
    const struct gt_tree *t;
    int status = gt_view_range_get(v, q, &r, err);
    if (status < 0) {
        gt_view_range_clear(&r);
        return status;
    }
    status = gt_view_tree_get(v, &r, &t, err);
    GHashTable *edges = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    for (uint32_t i = 0; status == 0 && i < t->n; i++)
        if (t->node[i].parent != GT_TREE_NONE)
            add_edge(edges, t, &t->node[i]);
    gt_view_tree_done(v);
    if (status == 0)
        put_edges(edges, j);
    g_hash_table_destroy(edges);
    gt_view_range_clear(&r);
    return status;
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
