/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A view, and the table of its answers: see view.h. */
#include "calls/view/view.h"

#include "calls/view/private.h"

#include <stdlib.h>

struct gt_view *gt_view_create(struct gt_calls *c, const struct gt_view_options *o)
{
    struct gt_view *v = g_new0(struct gt_view, 1);
    v->calls = c;
    v->title = o->title ? g_strdup(o->title) : g_path_get_basename(gt_calls_facts(c)->path);
    v->other = o->other ? gt_view_other_create(o->other, NULL) : NULL;
    v->sources = o->sources;
    v->threads = o->threads;
    v->demangler = o->demangle ? gt_image_demangler_create() : NULL;
    pthread_mutex_init(&v->names_lock, NULL);
    pthread_mutex_init(&v->trees_lock, NULL);
    v->timeline = gt_timeline_create(c, 0);
    if (v->timeline)
        return v;
    gt_view_destroy(v);
    return NULL;
}

void gt_view_destroy(struct gt_view *v)
{
    if (!v)
        return;
    gt_view_trees_forget(v);
    gt_view_other_destroy(v->other);
    gt_timeline_destroy(v->timeline);
    gt_image_demangler_destroy(v->demangler);
    pthread_mutex_destroy(&v->names_lock);
    pthread_mutex_destroy(&v->trees_lock);
    g_free(v->title);
    g_free(v);
}

int gt_view_read(struct gt_view *v, struct gt_error *err)
{
    return gt_timeline_fill(v->timeline, v->threads, &v->stop, err);
}

void gt_view_stop(struct gt_view *v)
{
    *(volatile bool *)&v->stop = true;
}

static const struct {
    const char *name;
    gt_view_fn *answer;
    bool grows; /* while the time line is read */
} answers[] = {
    {"info", gt_view_info, true},          {"tracks", gt_view_tracks, true},
    {"marks", gt_view_marks, true},        {"functions", gt_view_functions, true},
    {"tiles", gt_view_tiles, true},        {"report", gt_view_report, false},
    {"groups", gt_view_groups, false},     {"flame", gt_view_flame, false},
    {"function", gt_view_function, false}, {"edges", gt_view_edges, false},
    {"find", gt_view_find, false},         {"values", gt_view_values, false},
    {"slept", gt_view_slept, false},       {"difference", gt_view_difference, false},
    {"changes", gt_view_changes, false},   {"names", gt_view_names, false},
    {"source", gt_view_source, false},     {"match", gt_view_match, false},
    {"hits", gt_view_hits, false},         {"initcalls", gt_view_initcalls, false},
};

int gt_view_answer(struct gt_view *v, const char *name, const struct gt_view_query *q,
                   struct gt_output *out, bool *final, struct gt_error *err)
{
    for (size_t i = 0; i < G_N_ELEMENTS(answers); i++) {
        if (strcmp(answers[i].name, name) != 0)
            continue;
        struct gt_json j;
        *final = !answers[i].grows || gt_timeline_progress(v->timeline) == 1000;
        gt_json_init(&j, out, GT_JSON_REPLACE);
        return answers[i].answer(v, q, &j, err);
    }
    return gt_error_set(err, GT_E_NOT_FOUND, "there is no such answer");
}
