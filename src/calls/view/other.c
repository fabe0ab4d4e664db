/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a recording is compared with: see other.h. */
#include "calls/view/other.h"

struct gt_view_other *gt_view_other_create(struct gt_calls *c, const char *title)
{
    struct gt_view_other *o = g_new0(struct gt_view_other, 1);
    o->calls = c;
    o->title = title ? g_strdup(title) : g_path_get_basename(gt_calls_facts(c)->path);
    pthread_mutex_init(&o->lock, NULL);
    return o;
}

void gt_view_other_destroy(struct gt_view_other *o)
{
    if (!o)
        return;
    for (int side = 0; side < GT_VIEW_SIDES; side++) {
        gt_profile_tree_clear(&o->tree[false][side]);
        gt_profile_tree_clear(&o->tree[true][side]);
    }
    gt_profile_function_match_clear(&o->match);
    pthread_mutex_destroy(&o->lock);
    g_free(o->title);
    g_free(o);
}

const struct gt_calls *gt_view_other_calls(const struct gt_view_other *o)
{
    return o->calls;
}

const char *gt_view_other_title(const struct gt_view_other *o)
{
    return o->title;
}

struct gt_calls *gt_view_side(const struct gt_view *v, int side)
{
    return side ? v->other->calls : v->calls;
}

/* Both trees, once. With the lock. */
static int make_trees(struct gt_view *v, bool wall, struct gt_error *err)
{
    const struct gt_calls_window window = {.wall = wall};
    const struct gt_profile_tree_options how = {.window = &window, .by_name = true};
    struct gt_view_other *o = v->other;
    int status = 0;
    for (int side = 0; side < GT_VIEW_SIDES && status == 0; side++) {
        gt_profile_tree_clear(&o->tree[wall][side]);
        status = gt_profile_tree_make(gt_view_side(v, side), &how, &o->tree[wall][side], err);
    }
    if (status < 0)
        return status;
    if (!o->is_made[!wall]) { /* no pass finds more of them now */
        struct gt_calls *const side[GT_MATCH_SIDES] = {v->calls, o->calls};
        gt_profile_function_match_make(&o->match, side);
    }
    o->is_made[wall] = true;
    return 0;
}

int gt_view_other_make(struct gt_view *v, bool wall, struct gt_error *err)
{
    int status = 0;
    if (!v->other)
        return gt_error_set(err, GT_E_NOT_FOUND, "there is no other recording to compare with");
    pthread_mutex_lock(&v->other->lock);
    if (!v->other->is_made[wall])
        status = make_trees(v, wall, err);
    pthread_mutex_unlock(&v->other->lock);
    return status;
}

void gt_view_put_names(struct gt_view *v, const bool *is_named, struct gt_json *j)
{
    const GArray *names = v->other->match.names;
    pthread_mutex_lock(&v->names_lock);
    gt_json_key(j, "names");
    gt_json_begin_array(j);
    for (guint id = 0; id < names->len; id++) {
        const struct gt_calls_function *f =
            g_array_index(names, const struct gt_calls_function *, id);
        if (!is_named[id])
            continue;
        gt_json_u64(j, id);
        gt_view_put_string(j, gt_image_demangle(v->demangler, f->name));
        size_t length;
        const char *file = gt_profile_function_match_file(f, &length);
        gt_json_string(j, file, MIN(length, GT_VIEW_NAME));
    }
    gt_json_end_array(j);
    pthread_mutex_unlock(&v->names_lock);
}

/* All functions of both, with their numbers: a link to a path has names. */
int gt_view_names(struct gt_view *v, const struct gt_view_query *q, struct gt_json *j,
                  struct gt_error *err)
{
    (void)q;
    int status = gt_view_other_make(v, false, err);
    if (status < 0)
        return status;
    const guint n = v->other->match.names->len;
    g_autofree bool *all = g_new(bool, n + 1);
    for (guint i = 0; i < n; i++)
        all[i] = true;
    gt_json_resume(j);
    gt_json_begin_object(j);
    gt_view_put_names(v, all, j);
    gt_json_end_object(j);
    gt_json_commit(j);
    return 0;
}
