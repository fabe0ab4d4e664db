/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a recording is compared with: see other.h. */
#include "analysis/view/other.h"

struct gt_view_other *gt_view_other_create(struct gt_calls *c, const char *title)
{
    struct gt_view_other *o = g_new0(struct gt_view_other, 1);
    o->calls = c;
    o->title = title ? g_strdup(title) : g_path_get_basename(gt_calls_facts(c)->path);
    o->names = g_array_new(FALSE, FALSE, sizeof(const struct gt_calls_function *));
    pthread_mutex_init(&o->lock, NULL);
    return o;
}

void gt_view_other_destroy(struct gt_view_other *o)
{
    if (!o)
        return;
    for (int side = 0; side < GT_VIEW_SIDES; side++) {
        gt_tree_clear(&o->tree[false][side]);
        gt_tree_clear(&o->tree[true][side]);
        g_free(o->id[side]);
    }
    g_array_free(o->names, TRUE);
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

/* ---- functions of both --------------------------------------------------------------------- */

static const char *file_of(const struct gt_calls_function *f)
{
    const char *slash = strrchr(f->module, '/');
    return slash ? slash + 1 : f->module;
}

/* Where a "0x..." that ends at `end` begins, with the letter before it, one of `before`; NULL:
 * there is none. */
static const char *number_before(const char *text, const char *end, const char *before)
{
    const char *at = end;
    while (at > text && g_ascii_isxdigit(at[-1]))
        at--;
    if (at == end || at - text < 3 || at[-1] != 'x' || at[-2] != '0' || !strchr(before, at[-3]))
        return NULL;
    return at - 3;
}

/* The length of a file's name without where it lies: code that is in a recording twice, or in part,
 * is NAME@0xADDRESS, NAME+0xOFFSET or NAME+0xOFFSET-0xOFFSET, in another boot another one. */
static size_t plain_length(const char *file)
{
    const char *end = file + strlen(file), *last = number_before(file, end, "-");
    const char *at = number_before(file, last ? last : end, last ? "+" : "@+");
    return at && at > file ? (size_t)(at - file) : strlen(file);
}

static int compare_files(const char *a, const char *b)
{
    const size_t n = plain_length(a), m = plain_length(b);
    const int order = strncmp(a, b, MIN(n, m));
    return order ? order : n < m ? -1 : n > m;
}

struct side_function {
    const struct gt_calls_function *function;
    uint32_t index;
    int side;
};

/* Equal: of the same number. */
static int compare_names(const struct gt_calls_function *a, const struct gt_calls_function *b)
{
    const int order = strcmp(a->name, b->name);
    return order ? order : compare_files(file_of(a), file_of(b));
}

static gint compare_functions(gconstpointer pa, gconstpointer pb)
{
    const struct side_function *a = pa, *b = pb;
    const int order = compare_names(a->function, b->function);
    return order ? order : a->side - b->side;
}

/* In order of names: indexes of functions depend on the order in which calls were read. */
static void number_functions(struct gt_view *v)
{
    struct gt_view_other *o = v->other;
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(struct side_function));
    const struct gt_calls_function *last = NULL;
    for (int side = 0; side < GT_VIEW_SIDES; side++) {
        o->n[side] = gt_calls_n_functions(gt_view_side(v, side));
        o->id[side] = g_new(uint32_t, o->n[side] + 1);
        for (uint32_t i = 0; i < o->n[side]; i++) {
            const struct side_function f = {gt_calls_function(gt_view_side(v, side), i), i, side};
            g_array_append_val(all, f);
        }
    }
    g_array_sort(all, compare_functions);
    for (guint i = 0; i < all->len; i++) {
        const struct side_function *f = &g_array_index(all, struct side_function, i);
        if (!last || compare_names(last, f->function) != 0)
            g_array_append_val(o->names, f->function);
        last = f->function;
        o->id[f->side][f->index] = o->names->len - 1;
    }
}

/* Both trees, once. With the lock. */
static int make_trees(struct gt_view *v, bool wall, struct gt_error *err)
{
    const struct gt_calls_window window = {.wall = wall};
    const struct gt_tree_options how = {.window = &window, .by_name = true};
    struct gt_view_other *o = v->other;
    int status = 0;
    for (int side = 0; side < GT_VIEW_SIDES && status == 0; side++) {
        gt_tree_clear(&o->tree[wall][side]);
        status = gt_tree_make(gt_view_side(v, side), &how, &o->tree[wall][side], err);
    }
    if (status < 0)
        return status;
    if (!o->is_made[!wall])
        number_functions(v); /* no pass finds more of them now */
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
    const GArray *names = v->other->names;
    pthread_mutex_lock(&v->names_lock);
    gt_json_key(j, "names");
    gt_json_begin_array(j);
    for (guint id = 0; id < names->len; id++) {
        const struct gt_calls_function *f =
            g_array_index(names, const struct gt_calls_function *, id);
        if (!is_named[id])
            continue;
        gt_json_u64(j, id);
        gt_view_put_string(j, gt_demangle(v->demangler, f->name));
        gt_json_string(j, file_of(f), MIN(plain_length(file_of(f)), GT_VIEW_NAME));
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
    const guint n = v->other->names->len;
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
