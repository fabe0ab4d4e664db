/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What differs between two recordings: sums of each function. */
#include "analysis/profile/functions.h"
#include "analysis/view/other.h"

struct change {
    uint64_t calls[GT_VIEW_SIDES], total[GT_VIEW_SIDES], self[GT_VIEW_SIDES];
};

static int add_sums(struct gt_view *v, int side, const struct gt_calls_window *w, struct change *of,
                    struct gt_error *err)
{
    struct gt_function_table f = {0};
    int status = gt_function_table_make(gt_view_side(v, side), w, 0, &f, err);
    for (size_t i = 0; status == 0 && i < f.n; i++) {
        const struct gt_function_sums *s = &f.row[i].sums;
        struct change *to = &of[v->other->id[side][f.row[i].function]];
        to->calls[side] += s->calls;
        to->total[side] += s->total;
        to->self[side] += (uint64_t)MAX(s->self, 0);
    }
    gt_function_table_clear(&f);
    return status;
}

/* wall=1. Sums of each function in both: its number in `names`, calls, total and self time of this
 * recording, then those of the other. */
int gt_view_changes(struct gt_view *v, const struct gt_view_query *q, struct gt_json *j,
                    struct gt_error *err)
{
    struct gt_calls_window w = {0};
    int status = gt_view_wall(q, &w.wall, err);
    if (status == 0)
        status = gt_view_other_make(v, w.wall, err);
    if (status < 0)
        return status;
    const guint n = v->other->names->len;
    g_autofree struct change *of = g_new0(struct change, n + 1);
    g_autofree bool *is_named = g_new0(bool, n + 1);
    for (int side = 0; side < GT_VIEW_SIDES && status == 0; side++)
        status = add_sums(v, side, &w, of, err);
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
        for (int side = 0; side < GT_VIEW_SIDES; side++) {
            gt_json_u64(j, of[id].calls[side]);
            gt_json_u64(j, of[id].total[side]);
            gt_json_u64(j, of[id].self[side]);
        }
    }
    gt_json_end_array(j);
    gt_view_put_names(v, is_named, j);
    gt_json_end_object(j);
    gt_json_commit(j);
    return 0;
}
