/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions: their names, sums of a range, where they were called. */
#include "calls/view/private.h"

#include "calls/profile/functions.h"
#include "calls/profile/groups.h"

#include <stdlib.h>

/* ---- names --------------------------------------------------------------------------------- */

/* Those from an index on: name, module, file, line, 1 of a handler. */
int gt_view_functions(struct gt_view *v, const struct gt_view_query *q, struct gt_json *j,
                      struct gt_error *err)
{
    uint64_t first = 0;
    int status = gt_view_number(q, "first", UINT32_MAX, &first, err);
    if (status < 0)
        return status;
    const size_t n = gt_calls_n_functions(v->calls);
    pthread_mutex_lock(&v->names_lock);
    gt_json_resume(j);
    gt_json_begin_object(j);
    gt_view_put(j, "first", first);
    gt_json_key(j, "functions");
    gt_json_begin_array(j);
    for (uint64_t i = first; i < n; i++) {
        const struct gt_calls_function *f = gt_calls_function(v->calls, (uint32_t)i);
        gt_view_put_string(j, gt_image_demangle(v->demangler, f->name));
        gt_view_put_string(j, f->module);
        gt_view_put_string(j, f->file ? f->file : "");
        gt_json_u64(j, f->line);
        gt_json_u64(j, f->is_handler);
    }
    gt_json_end_array(j);
    gt_json_end_object(j);
    gt_json_commit(j);
    pthread_mutex_unlock(&v->names_lock);
    return 0;
}

/* ---- sums ---------------------------------------------------------------------------------- */

static void put_sums(struct gt_json *j, const struct gt_profile_function_table *f)
{
    gt_json_resume(j);
    gt_json_begin_object(j);
    gt_json_key(j,
                "rows"); /* function, calls, total, self, average, minimum, maximum, slept, open */
    gt_json_begin_array(j);
    for (size_t i = 0; i < f->n; i++) {
        const struct gt_profile_function_sums *s = &f->row[i].sums;
        const uint64_t row[] = {f->row[i].function,
                                s->calls,
                                s->total,
                                (uint64_t)MAX(s->self, 0),
                                gt_profile_function_total_avg(s),
                                s->calls ? s->total_min : 0,
                                s->total_max,
                                s->slept,
                                s->open};
        for (size_t k = 0; k < G_N_ELEMENTS(row); k++)
            gt_json_u64(j, row[k]);
    }
    gt_json_end_array(j);
    gt_json_end_object(j);
    gt_json_commit(j);
}

int gt_view_report(struct gt_view *v, const struct gt_view_query *q, struct gt_json *j,
                   struct gt_error *err)
{
    struct gt_view_range r;
    struct gt_profile_function_table f = {0};
    int status = gt_view_range_get(v, q, &r, err);
    if (status == 0)
        status = gt_profile_function_table_make(v->calls, &r.window, 0, &f, err);
    if (status == 0)
        put_sums(j, &f);
    gt_profile_function_table_clear(&f);
    gt_view_range_clear(&r);
    return status;
}

/* by=tasks: task, functions, calls, total, self, slept, open; by=modules: a function of it instead
 * of the task. */
int gt_view_groups(struct gt_view *v, const struct gt_view_query *q, struct gt_json *j,
                   struct gt_error *err)
{
    const char *by = q->value(q->self, "by");
    struct gt_view_range r;
    struct gt_profile_groups g = {0};
    int status = gt_view_range_get(v, q, &r, err);
    if (status == 0)
        status = (by && strcmp(by, "modules") == 0
                      ? gt_profile_groups_of_modules
                      : gt_profile_groups_of_tasks)(v->calls, &r.window, &g, err);
    gt_view_range_clear(&r);
    if (status < 0)
        return status;
    gt_json_resume(j);
    gt_json_begin_object(j);
    gt_json_key(j, "rows");
    gt_json_begin_array(j);
    for (size_t i = 0; i < g.n; i++) {
        gt_json_u64(j, g.row[i].index);
        gt_json_u64(j, g.row[i].functions);
        gt_json_u64(j, g.row[i].calls);
        gt_json_u64(j, g.row[i].total);
        gt_json_i64(j, g.row[i].self);
        gt_json_u64(j, g.row[i].slept);
        gt_json_u64(j, g.row[i].open);
    }
    gt_json_end_array(j);
    gt_json_end_object(j);
    gt_json_commit(j);
    gt_profile_groups_clear(&g);
    return 0;
}

/* ---- where a function was called ----------------------------------------------------------- */

struct place {
    uint64_t begin, duration;
    uint32_t task, depth, function;
    unsigned flags; /* GT_CALL_OPEN, GT_CALL_UNFINISHED */
    bool any;
};

struct found {
    const struct gt_calls *calls_of;
    const bool *wanted;
    size_t n;
    uint64_t time;
    uint64_t shortest, most; /* durations of the calls */
    struct place first, longest, next, before;
    uint64_t calls;
};

static void *make_found(void *self)
{
    struct found *f = g_new0(struct found, 1);
    const struct found *all = self;
    f->calls_of = all->calls_of;
    f->wanted = all->wanted;
    f->n = all->n;
    f->time = all->time;
    f->shortest = all->shortest;
    f->most = all->most;
    return f;
}

static bool earlier(const struct place *a, const struct place *b)
{
    if (!b->any || a->begin != b->begin)
        return !b->any || a->begin < b->begin;
    return a->task != b->task ? a->task < b->task : a->depth < b->depth;
}

static void offer(struct found *f, const struct place *p)
{
    if (earlier(p, &f->first))
        f->first = *p;
    if (!f->longest.any || p->duration > f->longest.duration ||
        (p->duration == f->longest.duration && earlier(p, &f->longest)))
        f->longest = *p;
    if (p->begin > f->time && earlier(p, &f->next))
        f->next = *p;
    if (p->begin < f->time && (!f->before.any || earlier(&f->before, p)))
        f->before = *p;
}

static int find_batch(void *share, const struct gt_calls_batch *b)
{
    struct found *f = share;
    for (size_t i = 0; i < b->n; i++) {
        const struct gt_call *e = &b->call[i];
        if (e->kind != GT_CALL_EXIT || e->function >= f->n || !f->wanted[e->function])
            continue;
        const struct place p = {.begin = e->begin,
                                .duration = e->time - e->begin,
                                .task = e->task,
                                .depth = e->depth,
                                .function = e->function,
                                .flags = gt_call_end_flags(f->calls_of, e),
                                .any = true};
        if (p.duration < f->shortest || p.duration > f->most)
            continue;
        f->calls++;
        offer(f, &p);
    }
    return 0;
}

static int merge_found(void *self, void *share)
{
    struct found *all = self, *f = share;
    const struct place *const each[] = {&f->first, &f->longest, &f->next, &f->before};
    if (all)
        all->calls += f->calls;
    for (size_t i = 0; all && i < G_N_ELEMENTS(each); i++)
        if (each[i]->any)
            offer(all, each[i]);
    g_free(f);
    return 0;
}

static void put_place(struct gt_view *v, struct gt_json *j, const char *key, const struct place *p)
{
    if (!p->any)
        return;
    gt_json_key(j, key);
    gt_json_begin_object(j);
    gt_view_put(j, "begin", gt_view_time(v, p->begin));
    gt_view_put(j, "duration", p->duration);
    gt_view_put(j, "task", p->task);
    gt_view_put(j, "depth", p->depth);
    gt_view_put(j, "function", p->function);
    gt_view_put(j, "flags", p->flags);
    gt_json_end_object(j);
}

static void put_found(struct gt_view *v, struct gt_json *j, const struct found *f)
{
    gt_json_resume(j);
    gt_json_begin_object(j);
    gt_view_put(j, "calls", f->calls);
    put_place(v, j, "first", &f->first);
    put_place(v, j, "longest", &f->longest);
    put_place(v, j, "next", &f->next);
    put_place(v, j, "before", &f->before);
    gt_json_end_object(j);
    gt_json_commit(j);
}

int gt_view_functions_of(const struct gt_view_query *q, size_t n, bool **out, struct gt_error *err)
{
    g_autoptr(GArray) functions = NULL;
    int status = gt_view_list(q, "functions", n, &functions, err);
    *out = g_new0(bool, n + 1);
    for (guint i = 0; status == 0 && i < functions->len; i++)
        (*out)[g_array_index(functions, uint32_t, i)] = true;
    return status;
}

/* functions, time, least, most (durations): the first and the longest call, and those before and
 * after that time. */
int gt_view_find(struct gt_view *v, const struct gt_view_query *q, struct gt_json *j,
                 struct gt_error *err)
{
    static const struct gt_calls_consumer consumer = {make_found, find_batch, merge_found};
    struct gt_view_range r;
    struct found f = {
        .calls_of = v->calls, .n = gt_calls_n_functions(v->calls), .most = UINT64_MAX};
    g_autofree bool *wanted = NULL;
    int status = gt_view_range_get(v, q, &r, err);
    if (status == 0)
        status = gt_view_functions_of(q, f.n, &wanted, err);
    if (status == 0)
        status = gt_view_number(q, "time", UINT64_MAX, &f.time, err);
    if (status == 0)
        status = gt_view_number(q, "least", UINT64_MAX, &f.shortest, err);
    if (status == 0)
        status = gt_view_number(q, "most", UINT64_MAX, &f.most, err);
    f.wanted = wanted;
    f.time += gt_calls_facts(v->calls)->first;
    if (status == 0)
        status = gt_calls_scan(v->calls, &r.window, &consumer, &f, 0, err);
    if (status >= 0)
        put_found(v, j, &f);
    gt_view_range_clear(&r);
    return status < 0 ? status : 0;
}
