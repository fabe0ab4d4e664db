/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folded stacks, for flame graphs: a line "PROCESS;TASK;a;b;c N" for each path of calls, where N is
 * the time that c itself spent there, or how often it was called there. Lines with 0 are left out.
 */
#include "calls/export/frames.h"
#include "calls/export/sums.h"

struct folded {
    const struct gt_calls *calls;
    struct gt_export_frames frames;
    struct gt_output *out;
    bool counts;
    GString *path;
    GArray *length; /* of the path, by depth of its last function */
};

/* A semicolon stands between functions. */
static void add_name(struct folded *f, const char *name)
{
    if (f->path->len)
        g_string_append_c(f->path, ';');
    gt_export_frames_add_clean(f->path, name, ';', ':');
}

static void put_root(struct folded *f, uint32_t task)
{
    g_autofree char *name = gt_export_frames_task_name(f->calls, task);
    g_autofree char *process =
        gt_export_frames_process_name(f->calls, gt_calls_task(f->calls, task)->process);
    g_string_truncate(f->path, 0);
    add_name(f, process);
    add_name(f, name);
}

static void put_node(struct folded *f, const struct gt_profile_tree_node *n)
{
    uint64_t value = f->counts ? n->calls : (uint64_t)n->self;
    g_string_truncate(f->path, g_array_index(f->length, gsize, n->depth - 1));
    add_name(f, f->frames.frame[f->frames.number[n->function]].name);
    if (!value)
        return;
    gt_output_bytes(f->out, f->path->str, f->path->len);
    gt_output_text(f->out, " ");
    gt_output_decimal(f->out, value);
    gt_output_text(f->out, "\n");
}

static void put_tree(struct folded *f, const struct gt_profile_tree *t)
{
    for (size_t r = 0; r < t->n_roots; r++) {
        const struct gt_profile_tree_node *root = &t->node[t->root[r].node];
        put_root(f, t->root[r].group);
        for (const struct gt_profile_tree_node *n = root;
             n < t->node + root->end && !f->out->failed; n++) {
            if (n != root)
                put_node(f, n);
            g_array_set_size(f->length, n->depth + 1);
            g_array_index(f->length, gsize, n->depth) = f->path->len;
        }
    }
}

int gt_export_folded(struct gt_calls *c, const struct gt_export_sums_options *o,
                     struct gt_output *out, struct gt_error *err)
{
    struct gt_profile_tree tree;
    int status = gt_export_sums_make_paths(c, o, GT_TREE_BY_TOTAL, &tree, err);
    if (status < 0)
        return status;
    struct folded f = {.calls = c, .out = out, .counts = o->counts};
    f.path = g_string_new(NULL);
    f.length = g_array_new(FALSE, FALSE, sizeof(gsize));
    gt_export_frames_make(c, &tree, &f.frames);
    put_tree(&f, &tree);
    gt_export_frames_clear(&f.frames);
    g_string_free(f.path, TRUE);
    g_array_free(f.length, TRUE);
    gt_profile_tree_clear(&tree);
    return 0;
}
