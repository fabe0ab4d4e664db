/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Callers and callees: of a function, of all functions. */
#include "calls/view/private.h"

#include <stdlib.h>

struct sums {
    uint64_t calls, open, total;
    int64_t self;
};

static void add(struct sums *to, const struct gt_profile_tree_node *n)
{
    to->calls += n->calls;
    to->open += n->open;
    to->total += n->total;
    to->self += n->self;
}

static void put_list(struct gt_json *j, const char *key, const struct sums *of, size_t n)
{
    gt_json_key(j, key); /* function, -1: none; calls, total, self, open */
    gt_json_begin_array(j);
    for (size_t i = 0; i <= n; i++) {
        if (!of[i].calls)
            continue;
        gt_json_i64(j, i < n ? (int64_t)i : -1);
        gt_json_u64(j, of[i].calls);
        gt_json_u64(j, of[i].total);
        gt_json_i64(j, of[i].self);
        gt_json_u64(j, of[i].open);
    }
    gt_json_end_array(j);
}

/* Of all calls of a function: by whom, and what they called. Times of recursive calls count in
 * each: as in the tree. */
static void put_function(const struct gt_profile_tree *t, const bool *wanted, size_t n,
                         struct gt_json *j)
{
    g_autofree struct sums *callers = g_new0(struct sums, n + 1);
    g_autofree struct sums *callees = g_new0(struct sums, n + 1);
    for (uint32_t i = 0; i < t->n; i++) {
        const struct gt_profile_tree_node *node = &t->node[i];
        if (node->parent == GT_TREE_NONE)
            continue;
        const struct gt_profile_tree_node *parent = &t->node[node->parent];
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

static void add_edge(GHashTable *edges, const struct gt_profile_tree *t,
                     const struct gt_profile_tree_node *n)
{
    const struct gt_profile_tree_node *parent = &t->node[n->parent];
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
        gt_json_u64(j, s->open);
    }
    gt_json_end_array(j);
    gt_json_end_object(j);
    gt_json_commit(j);
}

/* Who calls whom: caller, called, calls, total, self, open; a caller of -1: none. Sums of
 * `function` for all functions at once. */
int gt_view_edges(struct gt_view *v, const struct gt_view_query *q, struct gt_json *j,
                  struct gt_error *err)
{
    struct gt_view_range r = {0};
    const struct gt_profile_tree *t;
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

/* functions: all of one name. */
int gt_view_function(struct gt_view *v, const struct gt_view_query *q, struct gt_json *j,
                     struct gt_error *err)
{
    struct gt_view_range r = {0};
    g_autoptr(GArray) functions = NULL;
    const struct gt_profile_tree *tree;
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
