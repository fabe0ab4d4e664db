/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of the time line. Lists are flat: an item is a fixed number of numbers. */
#include "calls/view/private.h"

enum { MOST_BINS = 1 << 14, MOST_EXP = 62 };

struct tiles {
    struct gt_view *view;
    uint64_t begin, bin; /* of the part */
    GArray *slices;      /* uint64_t: 5 a slice; times may be before `begin` */
    GArray *cells;       /* uint64_t: 5 a cell */
    struct gt_json *json;
    bool any, summed_up, is_lane;
    uint32_t task;
    uint64_t first_end; /* of the task */
};

static void put_list(struct gt_json *j, const char *key, GArray *list)
{
    gt_json_key(j, key);
    gt_json_begin_array(j);
    for (guint i = 0; i < list->len; i++)
        gt_json_i64(j, g_array_index(list, int64_t, i));
    gt_json_end_array(j);
    g_array_set_size(list, 0);
}

static void end_task(struct tiles *t)
{
    if (!t->any)
        return;
    put_list(t->json, "slices", t->slices);
    put_list(t->json, "cells", t->cells);
    gt_json_end_object(t->json);
    t->any = false;
}

static void take_task(void *self, uint32_t task)
{
    struct tiles *t = self;
    end_task(t);
    gt_json_newline(t->json);
    gt_json_begin_object(t->json);
    gt_view_put(t->json, "task", task);
    t->any = true;
    t->task = task;
    t->is_lane = task >= gt_calls_n_tasks(t->view->calls);
    t->first_end = t->is_lane ? UINT64_MAX : gt_calls_first_end(t->view->calls, task);
}

/* enum gt_call_flag, GT_CALL_OPEN of any call that has not returned. */
static int64_t flags_of(const struct tiles *t, const struct gt_timeline_slice *s)
{
    const struct gt_call e = {.time = s->begin + s->duration,
                              .begin = s->begin,
                              .task = t->task,
                              .function = s->function,
                              .depth = s->depth,
                              .kind = GT_CALL_EXIT,
                              .flags = s->flags};
    return !t->is_lane && gt_call_may_be_open(&e, t->first_end) &&
                   gt_calls_is_open(t->view->calls, &e)
               ? s->flags | GT_CALL_OPEN
               : s->flags;
}

static void take_slice(void *self, const struct gt_timeline_slice *s)
{
    struct tiles *t = self;
    const int64_t row[] = {(int64_t)(gt_view_time(t->view, s->begin) - t->begin),
                           (int64_t)s->duration, s->depth, s->function, flags_of(t, s)};
    g_array_append_vals(t->slices, row, G_N_ELEMENTS(row));
}

static void take_cell(void *self, const struct gt_timeline_cell *c)
{
    struct tiles *t = self;
    const int64_t row[] = {(int64_t)(c->bin - t->bin), (int64_t)c->covered, c->depth, c->function,
                           c->calls};
    g_array_append_vals(t->cells, row, G_N_ELEMENTS(row));
    t->summed_up = true;
}

/* Slices: begin, duration, depth, function, flags; cells: bin, time covered, depth, function,
 * calls. Times count from the part's begin. */
static int put_tiles(struct gt_view *v, const struct gt_timeline_part *p, struct gt_json *j,
                     bool *exact, struct gt_error *err)
{
    struct tiles t = {.view = v, .begin = p->bin << p->exp, .bin = p->bin, .json = j};
    const struct gt_timeline_sink sink = {&t, take_task, take_slice, take_cell};
    t.slices = g_array_new(FALSE, FALSE, sizeof(int64_t));
    t.cells = g_array_new(FALSE, FALSE, sizeof(int64_t));
    gt_json_resume(j);
    gt_json_begin_object(j);
    gt_view_put(j, "progress", gt_timeline_progress(v->timeline));
    gt_json_key(j, "tasks");
    gt_json_begin_array(j);
    gt_json_commit(j);
    gt_json_resume(j);
    int status = gt_timeline_look(v->timeline, p, &sink, err);
    end_task(&t);
    gt_json_end_array(j);
    gt_json_end_object(j);
    gt_json_commit(j);
    g_array_free(t.slices, TRUE);
    g_array_free(t.cells, TRUE);
    *exact = !t.summed_up;
    return status;
}

int gt_view_tiles(struct gt_view *v, const struct gt_view_query *q, struct gt_json *j,
                  struct gt_error *err)
{
    const struct gt_calls_facts *f = gt_calls_facts(v->calls);
    g_autoptr(GArray) tasks = NULL;
    bool exact;
    uint64_t left_out;
    const size_t tracks = gt_calls_n_tasks(v->calls) + gt_timeline_lanes(v->timeline, &left_out);
    uint64_t exp = 0, bin = 0, bins = 256, depths = GT_TIMELINE_DEPTHS;
    int status = gt_view_number(q, "exp", MOST_EXP, &exp, err);
    if (status == 0)
        status = gt_view_number(q, "bin", (f->last - f->first) >> exp, &bin, err);
    if (status == 0)
        status = gt_view_number(q, "bins", MOST_BINS, &bins, err);
    if (status == 0)
        status = gt_view_number(q, "depths", GT_TIMELINE_DEPTHS, &depths, err);
    if (status == 0)
        status = gt_view_list(q, "tasks", tracks, &tasks, err);
    if (status < 0)
        return status;
    bins = MIN(bins, ((f->last - f->first) >> exp) - bin + 1);
    const struct gt_timeline_part p = {.task = (const uint32_t *)(void *)tasks->data,
                                       .n_tasks = tasks->len,
                                       .exp = (unsigned)exp,
                                       .bin = bin,
                                       .bins = bins,
                                       .threads = v->threads,
                                       .depths = (uint32_t)depths};
    return put_tiles(v, &p, j, &exact, err);
}

int gt_view_level(struct gt_view *v, unsigned exp, struct gt_json *j, bool *exact,
                  struct gt_error *err)
{
    const struct gt_calls_facts *f = gt_calls_facts(v->calls);
    uint64_t left_out;
    const size_t n = gt_calls_n_tasks(v->calls) + gt_timeline_lanes(v->timeline, &left_out);
    g_autofree uint32_t *task = g_new(uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++)
        task[i] = i;
    const struct gt_timeline_part p = {.task = task,
                                       .n_tasks = n,
                                       .exp = exp,
                                       .bins = ((f->last - f->first) >> exp) + 1,
                                       .threads = v->threads,
                                       .depths = GT_TIMELINE_DEPTHS};
    return put_tiles(v, &p, j, exact, err);
}
