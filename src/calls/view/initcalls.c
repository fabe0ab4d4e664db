/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The initcalls of a Linux kernel. */
#include "calls/profile/initcalls.h"

#include "calls/view/private.h"

static void put_row(struct gt_view *v, struct gt_json *j, const struct gt_profile_initcall *i)
{
    const struct gt_call e = {.kind = GT_CALL_EXIT, .flags = i->flags};
    gt_json_u64(j, gt_view_time(v, i->begin));
    gt_json_u64(j, i->end - i->begin);
    gt_json_u64(j, i->slept);
    gt_json_u64(j, i->own_end - i->begin);
    gt_json_u64(j, i->depth);
    gt_json_u64(j, i->task);
    gt_json_u64(j, i->function);
    gt_json_u64(j, gt_call_end_flags(v->calls, &e));
    gt_view_put_string(j, i->result ? i->result : "");
}

/* from, to, tasks: initcalls of the range, in order of time. */
int gt_view_initcalls(struct gt_view *v, const struct gt_view_query *q, struct gt_json *j,
                      struct gt_error *err)
{
    struct gt_profile_initcalls all = {0};
    struct gt_view_range r;
    int status = gt_view_range_get(v, q, &r, err);
    r.window.wall = false;
    if (status == 0)
        status = gt_profile_initcalls_make(v->calls, &r.window, v->threads, &all, err);
    gt_view_range_clear(&r);
    if (status < 0)
        return status;
    gt_json_resume(j);
    gt_json_begin_object(j);
    gt_view_put(j, "initcalls", all.n);
    /* begin, duration, of it slept, duration of its own call, depth, task, function, flags, result
     */
    gt_json_key(j, "rows");
    gt_json_begin_array(j);
    for (size_t i = 0; i < all.n && i < GT_VIEW_ROWS; i++)
        put_row(v, j, &all.row[i]);
    gt_json_end_array(j);
    gt_json_end_object(j);
    gt_json_commit(j);
    gt_profile_initcalls_clear(&all);
    return 0;
}
