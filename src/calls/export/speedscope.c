/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * speedscope's file format: its "sampled" profiles, one a task, whose samples are the paths of
 * calls and whose weights are the times that the last functions of the paths spent themselves. The
 * other form, with an event for each begin and end, is too large for its viewer.
 *
 * Samples are in the order of the paths' first calls, so that the view in order of time shows what
 * began first on the left. The profile that is shown first is the one with the largest sum.
 */
#include "base/json.h"
#include "calls/export/frames.h"
#include "calls/export/sums.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

struct speedscope {
    struct gt_json json;
    const struct gt_calls *calls;
    const struct gt_profile_tree *tree;
    struct gt_export_frames frames;
    const char *unit;
    GArray *path; /* uint32_t: frames of the functions that are open */
};

static void key_text(struct gt_json *j, const char *key, const char *text)
{
    gt_json_key(j, key);
    gt_json_text(j, text);
}

static void put_frames(struct speedscope *s)
{
    struct gt_json *j = &s->json;
    gt_json_key(j, "shared");
    gt_json_begin_object(j);
    gt_json_key(j, "frames");
    gt_json_begin_array(j);
    for (uint32_t i = 0; i < s->frames.n; i++) {
        const struct gt_calls_function *f = s->frames.frame[i].function;
        gt_json_newline(j);
        gt_json_begin_object(j);
        key_text(j, "name", s->frames.frame[i].name);
        if (f->file || *f->module)
            key_text(j, "file", f->file ? f->file : f->module);
        if (f->file && f->line) {
            gt_json_key(j, "line");
            gt_json_u64(j, f->line);
        }
        gt_json_end_object(j);
    }
    gt_json_end_array(j);
    gt_json_end_object(j);
}

static uint64_t sum_of(const struct gt_profile_tree *t, const struct gt_profile_tree_node *root)
{
    uint64_t sum = 0;
    for (const struct gt_profile_tree_node *n = root; n < t->node + root->end; n++)
        sum += (uint64_t)n->self;
    return sum;
}

static void put_samples(struct speedscope *s, const struct gt_profile_tree_node *root)
{
    struct gt_json *j = &s->json;
    const struct gt_profile_tree_node *end = s->tree->node + root->end;
    gt_json_key(j, "samples");
    gt_json_begin_array(j);
    for (const struct gt_profile_tree_node *n = root + 1; n < end && !j->out->failed; n++) {
        g_array_set_size(s->path, n->depth);
        g_array_index(s->path, uint32_t, n->depth - 1) = s->frames.number[n->function];
        if (!n->self)
            continue;
        gt_json_newline(j);
        gt_json_begin_array(j);
        for (guint i = 0; i < s->path->len; i++)
            gt_json_u64(j, g_array_index(s->path, uint32_t, i));
        gt_json_end_array(j);
    }
    gt_json_end_array(j);
    gt_json_key(j, "weights");
    gt_json_begin_array(j);
    for (const struct gt_profile_tree_node *n = root + 1; n < end && !j->out->failed; n++)
        if (n->self)
            gt_json_u64(j, (uint64_t)n->self);
    gt_json_end_array(j);
}

static void put_profile(struct speedscope *s, const struct gt_profile_tree_root *r)
{
    struct gt_json *j = &s->json;
    const struct gt_profile_tree_node *root = &s->tree->node[r->node];
    g_autofree char *title = gt_export_frames_task_title(s->calls, r->group);
    gt_json_newline(j);
    gt_json_begin_object(j);
    key_text(j, "type", "sampled");
    key_text(j, "name", title);
    key_text(j, "unit", s->unit);
    gt_json_key(j, "startValue");
    gt_json_u64(j, 0);
    gt_json_key(j, "endValue");
    gt_json_u64(j, sum_of(s->tree, root));
    put_samples(s, root);
    gt_json_end_object(j);
}

static size_t largest(const struct gt_profile_tree *t)
{
    size_t best = 0;
    uint64_t most = 0;
    for (size_t r = 0; r < t->n_roots; r++) {
        uint64_t sum = sum_of(t, &t->node[t->root[r].node]);
        if (sum > most) {
            most = sum;
            best = r;
        }
    }
    return best;
}

static void put_file(struct speedscope *s)
{
    struct gt_json *j = &s->json;
    g_autofree char *name = g_path_get_basename(gt_calls_facts(s->calls)->path);
    gt_json_resume(j);
    gt_json_begin_object(j);
    key_text(j, "$schema", SCHEMA);
    key_text(j, "name", name);
    key_text(j, "exporter", "guesttrace " GT_VERSION);
    gt_json_key(j, "activeProfileIndex");
    gt_json_u64(j, largest(s->tree));
    put_frames(s);
    gt_json_key(j, "profiles");
    gt_json_begin_array(j);
    for (size_t r = 0; r < s->tree->n_roots; r++)
        put_profile(s, &s->tree->root[r]);
    gt_json_end_array(j);
    gt_json_end_object(j);
    gt_json_end_line(j);
    gt_json_commit(j);
}

int gt_export_speedscope(struct gt_calls *c, const struct gt_export_sums_options *o,
                         struct gt_output *out, struct gt_error *err)
{
    struct gt_profile_tree tree;
    int status = gt_export_sums_make_paths(c, o, GT_TREE_BY_FIRST, &tree, err);
    if (status < 0)
        return status;
    struct speedscope s = {.calls = c, .tree = &tree};
    s.unit = gt_export_frames_in_instructions(c) ? "none" : "nanoseconds";
    s.path = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    gt_export_frames_make(c, &tree, &s.frames);
    gt_json_init(&s.json, out, GT_JSON_REPLACE);
    put_file(&s);
    gt_export_frames_clear(&s.frames);
    g_array_free(s.path, TRUE);
    gt_profile_tree_clear(&tree);
    return 0;
}
