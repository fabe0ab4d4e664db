/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values of one call: its arguments, what it returned, and how long its task slept. */
#include "calls/view/private.h"

#include "recording/values/payload.h"

struct one_call {
    struct gt_view *view;
    struct gt_json *json;
    uint64_t begin, end, depth, task, function;
    bool entry; /* arguments are wanted, else what it returned */
};

/* name, text, for each */
static void put_values(const struct one_call *one, const struct gt_call *e,
                       const struct gt_value_list *list)
{
    const struct gt_calls *c = one->view->calls;
    struct gt_value_item unknown[GT_VALUES_MOST];
    const struct gt_value_item *item = gt_calls_value_items(c, e, list, unknown);
    for (size_t i = 0; i < list->n; i++) {
        const struct gt_value_list alone = {1, {list->value[i]}};
        struct gt_text text = {0};
        char name[GT_CALLS_VALUE_NAME];
        gt_calls_value_name(&item[i], i, one->entry, name);
        gt_values_show(&text, gt_calls_values(c), &item[i], &alone, false, NULL, NULL);
        gt_json_text(one->json, name);
        gt_json_string(one->json, text.data ? text.data : "", text.len);
        gt_text_free(&text);
    }
}

/* Ends the walk with 1 where the call is. */
static int take(void *self, const struct gt_call *e)
{
    struct one_call *one = self;
    const uint8_t kind = one->entry ? GT_CALL_ENTRY : GT_CALL_EXIT;
    const uint64_t time = one->entry ? one->begin : one->end;
    if (e->kind != kind || e->task != one->task || e->depth != one->depth || e->time != time ||
        e->function != one->function || (e->flags & GT_CALL_CLIPPED))
        return 0;
    const struct gt_value_list *list = gt_calls_values_at(one->view->calls);
    if (list)
        put_values(one, e, list);
    return 1;
}

/* Reads the records of one moment only: a call may be as long as the recording. */
static int put_side(struct one_call *one, bool entry, struct gt_error *err)
{
    const uint64_t at = MAX(entry ? one->begin : one->end, 1);
    const size_t n = gt_calls_n_tasks(one->view->calls);
    g_autofree bool *tasks = g_new0(bool, n + 1);
    const struct gt_calls_window w = {.from = at, .to = at, .tasks = tasks};
    tasks[one->task] = true;
    one->entry = entry;
    gt_json_key(one->json, entry ? "arguments" : "returned");
    gt_json_begin_array(one->json);
    int status = gt_calls_walk(one->view->calls, &w, take, one, err);
    gt_json_end_array(one->json);
    return MIN(status, 0);
}

/* task, depth, begin, duration, function: the call. */
int gt_view_values(struct gt_view *v, const struct gt_view_query *q, struct gt_json *j,
                   struct gt_error *err)
{
    const struct gt_calls_facts *f = gt_calls_facts(v->calls);
    const size_t tasks = gt_calls_n_tasks(v->calls), functions = gt_calls_n_functions(v->calls);
    struct one_call one = {.view = v, .json = j};
    uint64_t duration = 0;
    int status = gt_view_number(q, "task", tasks ? tasks - 1 : 0, &one.task, err);
    if (status == 0)
        status = gt_view_number(q, "depth", UINT32_MAX, &one.depth, err);
    if (status == 0)
        status = gt_view_number(q, "function", functions ? functions - 1 : 0, &one.function, err);
    if (status == 0)
        status = gt_view_number(q, "begin", f->last - f->first, &one.begin, err);
    if (status == 0)
        status = gt_view_number(q, "duration", f->last - f->first - one.begin, &duration, err);
    if (status < 0)
        return status;
    one.begin += f->first;
    one.end = one.begin + duration;
    gt_json_resume(j);
    gt_json_begin_object(j);
    status = tasks ? put_side(&one, true, err) : 0;
    if (status == 0 && tasks)
        status = put_side(&one, false, err);
    gt_json_end_object(j);
    gt_json_commit(j);
    return status;
}

/* ---- how long it slept --------------------------------------------------------------------- */

static void *make_sum(void *self)
{
    (void)self;
    return g_new0(uint64_t, 1);
}

static int sum_batch(void *share, const struct gt_calls_batch *b)
{
    uint64_t *sum = share;
    for (size_t i = 0; i < b->n; i++)
        if (b->call[i].kind == GT_CALL_EXIT && gt_call_suspends(b->call[i].function))
            *sum += b->call[i].time - b->call[i].begin;
    return 0;
}

static int merge_sum(void *self, void *share)
{
    if (self)
        *(uint64_t *)self += *(uint64_t *)share;
    g_free(share);
    return 0;
}

/* task, begin, duration: how long the task was suspended in that time, which is that of a call. */
int gt_view_slept(struct gt_view *v, const struct gt_view_query *q, struct gt_json *j,
                  struct gt_error *err)
{
    static const struct gt_calls_consumer consumer = {make_sum, sum_batch, merge_sum};
    const struct gt_calls_facts *f = gt_calls_facts(v->calls);
    const size_t n = gt_calls_n_tasks(v->calls);
    g_autofree bool *tasks = g_new0(bool, n + 1);
    uint64_t task = 0, begin = 0, duration = 0, slept = 0;
    int status = gt_view_number(q, "task", n ? n - 1 : 0, &task, err);
    if (status == 0)
        status = gt_view_number(q, "begin", f->last - f->first, &begin, err);
    if (status == 0)
        status = gt_view_number(q, "duration", f->last - f->first - begin, &duration, err);
    tasks[task] = true;
    begin += f->first;
    const struct gt_calls_window w = {.from = begin, .to = begin + duration, .tasks = tasks};
    if (status == 0)
        status = gt_calls_scan(v->calls, &w, &consumer, &slept, 0, err);
    if (status < 0)
        return status;
    gt_json_resume(j);
    gt_json_begin_object(j);
    gt_view_put(j, "slept", slept);
    gt_json_end_object(j);
    gt_json_commit(j);
    return 0;
}
