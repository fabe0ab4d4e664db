/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What differs between two recordings: sums of each function. */
#include "calls/profile/match.h"
#include "calls/view/other.h"

/* wall=1. Sums of each function in both: its number in `names`, calls, total and self time and open
 * calls of this recording, then the same of the other. */
int gt_view_changes(struct gt_view *v, const struct gt_view_query *q, struct gt_json *j,
                    struct gt_error *err)
{
    struct gt_calls_window w = {0};
    int status = gt_view_wall(q, &w.wall, err);
    if (status == 0)
        status = gt_view_other_make(v, w.wall, err);
    if (status < 0)
        return status;
    const guint n = v->other->match.names->len;
    g_autofree struct gt_profile_change *of = g_new0(struct gt_profile_change, n + 1);
    g_autofree bool *is_named = g_new0(bool, n + 1);
    for (int which = 0; which < GT_VIEW_SIDES && status == 0; which++) {
        struct gt_profile_function_table f = {0};
        status = gt_profile_function_table_make(gt_view_side(v, which), &w, 0, &f, err);
        gt_profile_changes_add(of, &v->other->match, which, &f);
        gt_profile_function_table_clear(&f);
    }
    if (status < 0)
        return status;
    gt_json_resume(j);
    gt_json_begin_object(j);
    gt_json_key(j, "rows");
    gt_json_begin_array(j);
    for (guint id = 0; id < n; id++) {
        is_named[id] = of[id].calls[0] || of[id].calls[1] || of[id].self[0] || of[id].self[1];
        if (!is_named[id])
            continue;
        gt_json_u64(j, id);
        for (int which = 0; which < GT_VIEW_SIDES; which++) {
            gt_json_u64(j, of[id].calls[which]);
            gt_json_u64(j, of[id].total[which]);
            gt_json_u64(j, of[id].self[which]);
            gt_json_u64(j, of[id].open[which]);
        }
    }
    gt_json_end_array(j);
    gt_view_put_names(v, is_named, j);
    gt_json_end_object(j);
    gt_json_commit(j);
    return 0;
}
