/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that --where finds: see where.h. */
#include "calls/read/where.h"

#include "calls/read/call_values.h"
#include "calls/read/pass.h"
#include "calls/read/spaces.h"

struct gt_calls_where_task {
    GByteArray *found;            /* a bit a call */
    uint64_t n;                   /* calls so far */
    GArray *open;                 /* struct open */
    struct gt_call_values values; /* arguments, by depth */
};

/* An open call. */
struct open {
    uint64_t n; /* of those that are looked for; UINT64_MAX: it is none */
    uint64_t begin;
};

struct pass {
    struct gt_calls_where *w;
    struct gt_calls *c;
    struct gt_calls_verdicts *verdicts;
    struct gt_error *err;
};

/* A call that has returned. */
struct returned {
    struct gt_calls *c;
    const struct gt_call *e;
    const struct gt_value_list *arguments, *result;
};

static void free_task(gpointer data)
{
    struct gt_calls_where_task *t = data;
    if (!t)
        return;
    g_byte_array_unref(t->found);
    g_array_unref(t->open);
    gt_call_values_finish(&t->values);
    g_free(t);
}

static struct gt_calls_where_task *task_at(struct gt_calls_where *w, uint32_t index)
{
    if (index >= w->tasks->len)
        g_ptr_array_set_size(w->tasks, (gint)index + 1);
    if (!w->tasks->pdata[index]) {
        struct gt_calls_where_task *t = w->tasks->pdata[index] =
            g_new0(struct gt_calls_where_task, 1);
        t->found = g_byte_array_new();
        t->open = g_array_new(FALSE, FALSE, sizeof(struct open));
    }
    return w->tasks->pdata[index];
}

static int enter(struct pass *p, struct gt_calls_where_task *t, const struct gt_call *e)
{
    const struct gt_filter_verdict *v = gt_calls_verdicts_get(p->verdicts, e->function, p->err);
    struct open open = {UINT64_MAX, e->time};
    const guint8 none = 0;
    if (!v)
        return GT_E_NOMEM;
    if (gt_filter_has_where(v)) {
        open.n = t->n++;
        if (open.n % 8 == 0)
            g_byte_array_append(t->found, &none, 1);
    }
    gt_call_values_set(&t->values, t->open->len,
                       open.n == UINT64_MAX ? NULL : gt_calls_values_at(p->c));
    g_array_append_val(t->open, open);
    return 0;
}

static bool value(const void *self, const struct gt_base_call_value_name *name,
                  struct gt_base_call_value *out)
{
    const struct returned *r = self;
    return gt_calls_get_value(r->c, r->e->function, r->arguments, r->result, name, out);
}

static int leave(struct pass *p, struct gt_calls_where_task *t, const struct gt_call *e)
{
    if (t->open->len == 0)
        return 0;
    const uint32_t depth = t->open->len - 1;
    const struct open open = g_array_index(t->open, struct open, depth);
    g_array_set_size(t->open, depth);
    if (open.n == UINT64_MAX)
        return 0;
    const bool ended = !(e->flags & GT_CALL_UNFINISHED);
    const struct returned r = {p->c, e, gt_call_values_at(&t->values, depth),
                               ended ? gt_calls_values_at(p->c) : NULL};
    const struct gt_filter_finished call = {depth, e->time - open.begin, value, &r};
    const struct gt_filter_verdict *v = gt_calls_verdicts_get(p->verdicts, e->function, p->err);
    if (v && gt_filter_where(v, &call))
        t->found->data[open.n / 8] |= (guint8)(1u << open.n % 8);
    return v ? 0 : GT_E_NOMEM;
}

static int take(void *self, const struct gt_call *e)
{
    struct pass *p = self;
    if ((e->kind != GT_CALL_ENTRY && e->kind != GT_CALL_EXIT) || gt_call_suspends(e->function))
        return 0;
    struct gt_calls_where_task *t = task_at(p->w, e->task);
    return e->kind == GT_CALL_ENTRY ? enter(p, t, e) : leave(p, t, e);
}

int gt_calls_where_find(struct gt_calls_where *w, struct gt_calls *c,
                        const struct gt_calls_window *window, struct gt_calls_verdicts *verdicts,
                        struct gt_error *err)
{
    struct pass p = {w, c, verdicts, err};
    const struct gt_error_notices told = c->told;
    w->tasks = g_ptr_array_new_with_free_func(free_task);
    c->told = (struct gt_error_notices){0}; /* the pass that follows reports damage */
    int status = gt_calls_pass_walk(c, window, take, &p, err);
    c->told = told;
    return status;
}

bool gt_calls_where_found(const struct gt_calls_where *w, uint32_t task, uint64_t n)
{
    const struct gt_calls_where_task *t =
        w->tasks && task < w->tasks->len ? w->tasks->pdata[task] : NULL;
    return t && n < t->n && t->found->data[n / 8] >> n % 8 & 1;
}

void gt_calls_where_finish(struct gt_calls_where *w)
{
    if (w->tasks)
        g_ptr_array_unref(w->tasks);
    w->tasks = NULL;
}
