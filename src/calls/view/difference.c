/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flame graph of two recordings: paths of functions that either of them has.
 *
 * Recordings are of different lengths: shares of the whole are compared. A node of the flame
 * graph is as wide as the mean of its two parts, so that what only one of them has is seen, too,
 * and children are never wider than what called them.
 */
#include "calls/view/other.h"

/* A path of calls, in both recordings. */
struct node {
    uint64_t value[GT_VIEW_SIDES], calls[GT_VIEW_SIDES];
    uint64_t small[GT_VIEW_SIDES], small_calls[GT_VIEW_SIDES]; /* children that have no node */
    uint32_t small_paths;
    uint32_t parent, id;
};

struct difference {
    struct gt_view *view;
    GArray *nodes;     /* struct node; the first one: the whole */
    GHashTable *place; /* parent and id, gint64: index + 1 */
    uint32_t *order;   /* nodes by parent, then by width */
    uint32_t *begin;   /* where a node's children begin there */
    double least;      /* width */
    bool *is_named;    /* ids whose names are due */
    struct gt_json *json;
};

/* ---- paths of both ------------------------------------------------------------------------- */

static struct node *node_of(const struct difference *d, uint32_t i)
{
    return &g_array_index(d->nodes, struct node, i);
}

/* The child of a node; GT_TREE_NONE: it has no such one. */
static uint32_t child_of(const struct difference *d, uint32_t parent, uint32_t id)
{
    const gint64 key = (gint64)((uint64_t)parent << 32 | id);
    return GPOINTER_TO_UINT(g_hash_table_lookup(d->place, &key)) - 1;
}

static uint32_t add_child(struct difference *d, uint32_t parent, uint32_t id)
{
    const gint64 key = (gint64)((uint64_t)parent << 32 | id);
    const struct node new = {.parent = parent, .id = id};
    g_array_append_val(d->nodes, new);
    g_hash_table_insert(d->place, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(d->nodes->len));
    return d->nodes->len - 1;
}

/* Nodes for paths that are not small in this recording. */
static void add_paths(struct difference *d, int side, const struct gt_profile_tree *t,
                      const uint64_t *value, uint32_t *place)
{
    const uint32_t *id = d->view->other->match.id[side];
    const uint64_t least = MAX(value[0] / GT_VIEW_SMALLEST / 2, 1);
    place[0] = 0;
    for (uint32_t i = 1; i < t->n;) {
        if (value[i] < least) {
            i = t->node[i].end;
            continue;
        }
        const uint32_t parent = place[t->node[i].parent], of = id[t->node[i].function];
        place[i] = child_of(d, parent, of);
        if (place[i] == GT_TREE_NONE)
            place[i] = add_child(d, parent, of);
        i++;
    }
}

static void add_values(struct difference *d, int side, const struct gt_profile_tree *t,
                       const uint64_t *value, uint32_t *place)
{
    const uint32_t *id = d->view->other->match.id[side];
    for (uint32_t i = 0; i < t->n;) {
        const struct gt_profile_tree_node *n = &t->node[i];
        const uint32_t parent = i ? place[n->parent] : 0;
        place[i] = i ? child_of(d, parent, id[n->function]) : 0;
        if (place[i] == GT_TREE_NONE) {
            struct node *to = node_of(d, parent);
            to->small[side] += value[i];
            to->small_calls[side] += n->calls;
            to->small_paths++;
            i = n->end;
            continue;
        }
        node_of(d, place[i])->value[side] += value[i];
        node_of(d, place[i])->calls[side] += n->calls;
        i++;
    }
}

/* The mean of the parts of all, twice. */
static double width_of(const struct difference *d, const uint64_t value[GT_VIEW_SIDES])
{
    double width = 0;
    for (int side = 0; side < GT_VIEW_SIDES; side++) {
        const uint64_t all = node_of(d, 0)->value[side];
        width += all ? (double)value[side] / (double)all : 0;
    }
    return width;
}

static int compare_nodes(const void *a, const void *b, void *self)
{
    const struct difference *d = self;
    const struct node *x = node_of(d, *(const uint32_t *)a), *y = node_of(d, *(const uint32_t *)b);
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    const double wx = width_of(d, x->value), wy = width_of(d, y->value);
    return wx > wy ? -1 : wx < wy ? 1 : x->id < y->id ? -1 : x->id > y->id;
}

static void sort_nodes(struct difference *d)
{
    const guint n = d->nodes->len;
    d->order = g_new(uint32_t, n);
    d->begin = g_new0(uint32_t, n + 2);
    for (uint32_t i = 1; i < n; i++) {
        d->order[i - 1] = i;
        d->begin[node_of(d, i)->parent + 1]++;
    }
    for (uint32_t i = 0; i < n; i++)
        d->begin[i + 1] += d->begin[i];
    g_qsort_with_data(d->order, (gint)n - 1, sizeof *d->order, compare_nodes, d);
}

/* ---- answer -------------------------------------------------------------------------------- */

/* depth, id (below 0: minus the number of paths that are summed up), values, calls */
static void put_node(struct difference *d, uint32_t depth, int64_t id,
                     const uint64_t value[GT_VIEW_SIDES], const uint64_t calls[GT_VIEW_SIDES])
{
    gt_json_u64(d->json, depth);
    gt_json_i64(d->json, id);
    for (int side = 0; side < GT_VIEW_SIDES; side++)
        gt_json_u64(d->json, value[side]);
    for (int side = 0; side < GT_VIEW_SIDES; side++)
        gt_json_u64(d->json, calls[side]);
    if (id >= 0)
        d->is_named[id] = true;
}

static void put_small(struct difference *d, uint32_t i, uint32_t depth)
{
    struct node sum = *node_of(d, i);
    for (uint32_t k = d->begin[i]; k < d->begin[i + 1]; k++) {
        const struct node *n = node_of(d, d->order[k]);
        if (width_of(d, n->value) >= d->least)
            continue;
        for (int side = 0; side < GT_VIEW_SIDES; side++) {
            sum.small[side] += n->value[side];
            sum.small_calls[side] += n->calls[side];
        }
        sum.small_paths++;
    }
    if (sum.small_paths)
        put_node(d, depth + 1, -(int64_t)sum.small_paths, sum.small, sum.small_calls);
}

/* Depth first, without recursion: a stack is as deep as the guest's. */
static void put_nodes(struct difference *d, uint32_t top)
{
    GArray *open = g_array_new(FALSE, FALSE, sizeof(uint32_t)); /* node, depth */
    const uint32_t first[] = {top, 0};
    g_array_append_vals(open, first, 2);
    while (open->len) {
        const uint32_t i = g_array_index(open, uint32_t, open->len - 2);
        const uint32_t depth = g_array_index(open, uint32_t, open->len - 1);
        const struct node *n = node_of(d, i);
        g_array_set_size(open, open->len - 2);
        put_node(d, depth, n->id, n->value, n->calls);
        put_small(d, i, depth);
        for (uint32_t k = d->begin[i + 1]; k-- > d->begin[i];) {
            const uint32_t child[] = {d->order[k], depth + 1};
            if (width_of(d, node_of(d, child[0])->value) >= d->least)
                g_array_append_vals(open, child, 2);
        }
    }
    g_array_free(open, TRUE);
}

static int put_difference(struct difference *d, const GArray *path, struct gt_error *err)
{
    uint32_t top = 0;
    for (guint i = 0; i < path->len && top != GT_TREE_NONE; i++)
        top = child_of(d, top, g_array_index(path, uint32_t, i));
    for (guint i = 0; i < path->len; i++)
        d->is_named[g_array_index(path, uint32_t, i)] = true;
    if (top == GT_TREE_NONE)
        return gt_error_set(err, GT_E_USAGE, "parameter path: there is no such path of calls");
    sort_nodes(d);
    d->least = width_of(d, node_of(d, top)->value) / GT_VIEW_SMALLEST;
    gt_json_resume(d->json);
    gt_json_begin_object(d->json);
    gt_json_key(d->json, "all");
    gt_json_begin_array(d->json);
    for (int side = 0; side < GT_VIEW_SIDES; side++)
        gt_json_u64(d->json, node_of(d, 0)->value[side]);
    gt_json_end_array(d->json);
    gt_json_key(d->json, "nodes");
    gt_json_begin_array(d->json);
    put_nodes(d, top);
    gt_json_end_array(d->json);
    gt_view_put_names(d->view, d->is_named, d->json);
    gt_json_end_object(d->json);
    gt_json_commit(d->json);
    return 0;
}

struct how {
    uint64_t inverse;
    bool by_calls, wall;
};

/* Adds both recordings' trees to the paths. */
static int merge_trees(struct difference *d, const struct how *how, struct gt_error *err)
{
    struct gt_profile_tree callers[GT_VIEW_SIDES] = {{0}};
    const struct gt_profile_tree *tree[GT_VIEW_SIDES];
    uint64_t *value[GT_VIEW_SIDES] = {NULL};
    uint32_t *place[GT_VIEW_SIDES] = {NULL};
    int status = 0;
    for (int side = 0; side < GT_VIEW_SIDES && status == 0; side++) {
        struct gt_calls *c = gt_view_side(d->view, side);
        tree[side] = &d->view->other->tree[how->wall][side];
        if (how->inverse)
            status = gt_view_tree_inverse(tree[side], c, &callers[side], err);
        if (how->inverse)
            tree[side] = &callers[side];
        place[side] = g_new(uint32_t, tree[side]->n + 1);
        value[side] = how->by_calls ? gt_view_tree_calls(tree[side], how->inverse)
                                    : gt_view_tree_times(tree[side]);
    }
    for (int side = 0; side < GT_VIEW_SIDES && status == 0; side++)
        add_paths(d, side, tree[side], value[side], place[side]);
    for (int side = 0; side < GT_VIEW_SIDES && status == 0; side++)
        add_values(d, side, tree[side], value[side], place[side]);
    for (int side = 0; side < GT_VIEW_SIDES; side++) {
        g_free(place[side]);
        g_free(value[side]);
        gt_profile_tree_clear(&callers[side]);
    }
    return status;
}

static int difference_of(struct gt_view *v, const struct how *how, const GArray *path,
                         struct gt_json *j, struct gt_error *err)
{
    const struct node whole = {.parent = GT_TREE_NONE};
    struct difference d = {.view = v, .json = j};
    d.nodes = g_array_new(FALSE, FALSE, sizeof(struct node));
    d.place = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    d.is_named = g_new0(bool, v->other->match.names->len + 1);
    g_array_append_val(d.nodes, whole);
    int status = merge_trees(&d, how, err);
    if (status == 0)
        status = put_difference(&d, path, err);
    g_free(d.is_named);
    g_free(d.order);
    g_free(d.begin);
    g_hash_table_destroy(d.place);
    g_array_free(d.nodes, TRUE);
    return status;
}

/* inverse=1, path, by=calls, wall=1 as in `flame`; functions are numbers of `names`. */
int gt_view_difference(struct gt_view *v, const struct gt_view_query *q, struct gt_json *j,
                       struct gt_error *err)
{
    const char *by = q->value(q->self, "by");
    struct how how = {.by_calls = by && strcmp(by, "calls") == 0};
    g_autoptr(GArray) path = NULL;
    int status = gt_view_wall(q, &how.wall, err);
    if (status == 0)
        status = gt_view_other_make(v, how.wall, err);
    if (status == 0)
        status = gt_view_list(q, "path", v->other->match.names->len, &path, err);
    if (status == 0)
        status = gt_view_number(q, "inverse", 1, &how.inverse, err);
    return status == 0 ? difference_of(v, &how, path, j, err) : status;
}
