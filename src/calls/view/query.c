/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parameters of a question, the part of the recording that they name, and its tree. */
#include "calls/view/private.h"

#include <inttypes.h>

/* ---- parameters ---------------------------------------------------------------------------- */

static int bad(const char *key, const char *text, struct gt_error *err)
{
    return gt_error_set(err, GT_E_USAGE, "parameter %s: '%.40s' is not such a number", key, text);
}

static bool read_number(const char **at, uint64_t *out)
{
    char *end;
    if (!g_ascii_isdigit(**at))
        return false;
    errno = 0;
    *out = g_ascii_strtoull(*at, &end, 10);
    *at = end;
    return errno == 0;
}

int gt_view_number(const struct gt_view_query *q, const char *key, uint64_t most, uint64_t *out,
                   struct gt_error *err)
{
    const char *text = q->value(q->self, key), *at = text;
    uint64_t n;
    if (!text)
        return 0;
    if (!read_number(&at, &n) || *at || n > most)
        return bad(key, text, err);
    *out = n;
    return 0;
}

int gt_view_wall(const struct gt_view_query *q, bool *out, struct gt_error *err)
{
    uint64_t wall = 0;
    int status = gt_view_number(q, "wall", 1, &wall, err);
    *out = wall;
    return status;
}

int gt_view_list(const struct gt_view_query *q, const char *key, uint64_t limit, GArray **out,
                 struct gt_error *err)
{
    const char *text = q->value(q->self, key), *at = text;
    *out = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    while (at && *at) {
        uint64_t n;
        if (!read_number(&at, &n) || n >= limit || (*at && *at != ',') ||
            (*out)->len >= GT_VIEW_ROWS)
            return bad(key, text, err);
        const uint32_t number = (uint32_t)n;
        g_array_append_val(*out, number);
        at += *at == ',';
    }
    return 0;
}

int gt_view_range_get(struct gt_view *v, const struct gt_view_query *q, struct gt_view_range *out,
                      struct gt_error *err)
{
    const struct gt_calls_facts *f = gt_calls_facts(v->calls);
    const size_t n = gt_calls_n_tasks(v->calls);
    uint64_t from = 0, to = f->last - f->first;
    g_autoptr(GArray) tasks = NULL;
    *out = (struct gt_view_range){0};
    int status = gt_view_wall(q, &out->window.wall, err);
    if (status == 0)
        status = gt_view_number(q, "from", to, &from, err);
    if (status == 0)
        status = gt_view_number(q, "to", UINT64_MAX, &to, err);
    if (status == 0)
        status = gt_view_list(q, "tasks", n, &tasks, err);
    if (status < 0)
        return status;
    to = MIN(to, f->last - f->first);
    if (to < from)
        return gt_error_set(err, GT_E_USAGE, "the range ends before it begins");
    if (from > 0)
        out->window.from = f->first + from;
    if (to < f->last - f->first)
        out->window.to = f->first + to;
    GString *key = g_string_new(NULL);
    g_string_printf(key, "%d:%" PRIu64 "-%" PRIu64, out->window.wall, from, to);
    if (tasks->len) {
        out->tasks = g_new0(bool, n + 1);
        out->window.tasks = out->tasks;
        for (guint i = 0; i < tasks->len; i++)
            out->tasks[g_array_index(tasks, uint32_t, i)] = true;
        for (uint32_t i = 0; i < n; i++)
            if (out->tasks[i])
                g_string_append_printf(key, ",%" PRIu32, i);
    }
    out->key = g_string_free(key, FALSE);
    return 0;
}

void gt_view_range_clear(struct gt_view_range *r)
{
    g_free(r->tasks);
    g_free(r->key);
    *r = (struct gt_view_range){0};
}

/* ---- trees --------------------------------------------------------------------------------- */

static void forget_tree(struct gt_view_tree *t)
{
    gt_profile_tree_clear(&t->tree);
    g_free(t->key);
    *t = (struct gt_view_tree){0};
}

void gt_view_trees_forget(struct gt_view *v)
{
    for (int i = 0; i < GT_VIEW_TREES; i++)
        forget_tree(&v->tree[i]);
}

/* For another tree in place of this one: it may be as large as those that are kept. */
static void make_room(struct gt_view *v, struct gt_view_tree *oldest)
{
    size_t nodes = 0;
    forget_tree(oldest);
    for (int i = 0; i < GT_VIEW_TREES; i++)
        nodes += v->tree[i].tree.n;
    for (int i = 0; i < GT_VIEW_TREES && nodes > GT_VIEW_TREE_NODES; i++)
        forget_tree(&v->tree[i]);
}

int gt_view_tree_get(struct gt_view *v, const struct gt_view_range *r,
                     const struct gt_profile_tree **out, struct gt_error *err)
{
    pthread_mutex_lock(&v->trees_lock);
    struct gt_view_tree *oldest = &v->tree[0];
    for (int i = 0; i < GT_VIEW_TREES; i++) {
        struct gt_view_tree *t = &v->tree[i];
        if (t->key && strcmp(t->key, r->key) == 0) {
            t->used = ++v->turn;
            *out = &t->tree;
            return 0;
        }
        if (t->used < oldest->used)
            oldest = t;
    }
    make_room(v, oldest);
    const struct gt_profile_tree_options how = {.window = &r->window, .by_name = true};
    int status = gt_profile_tree_make(v->calls, &how, &oldest->tree, err);
    if (status < 0)
        return status;
    oldest->key = g_strdup(r->key);
    oldest->used = ++v->turn;
    *out = &oldest->tree;
    return 0;
}

void gt_view_tree_done(struct gt_view *v)
{
    pthread_mutex_unlock(&v->trees_lock);
}
