/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of answers: a row each. */
#include "calls/view/private.h"

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
    {"source", gt_view_source, false},
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
