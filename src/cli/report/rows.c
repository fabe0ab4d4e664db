/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of a report: read, and sorted. See report.h. */
#include "calls/profile/functions.h"
#include "calls/profile/groups.h"
#include "cli/report/report.h"

#include <string.h>

#define CALLS  (GT_BY_FUNCTION | GT_BY_VALUE) /* rows of single calls */
#define ALL    (CALLS | GT_BY_TASK | GT_BY_MODULE)
#define AT(of) offsetof(struct gt_report_row, of)

const struct gt_report_column gt_report_columns[] = {
    {"total", NULL, "Total time", GT_REPORT_TIME, ALL, AT(total)},
    {"self", NULL, "Self time", GT_REPORT_TIME, CALLS | GT_BY_MODULE, AT(self)},
    {"slept", NULL, "Slept", GT_REPORT_TIME, ALL, AT(slept), .if_any = true},
    {"calls", "call", "Calls", GT_REPORT_COUNT, ALL, AT(calls)},
    {"total-avg", "avg", "Total avg", GT_REPORT_TIME, CALLS, AT(total_avg)},
    {"total-min", "min", "Total min", GT_REPORT_TIME, CALLS, AT(total_min)},
    {"total-max", "max", "Total max", GT_REPORT_TIME, CALLS, AT(total_max)},
    {"self-avg", NULL, NULL, GT_REPORT_TIME, CALLS, AT(self_avg)},
    {"self-min", NULL, NULL, GT_REPORT_TIME, CALLS, AT(self_min)},
    {"self-max", NULL, NULL, GT_REPORT_TIME, CALLS, AT(self_max)},
    {"functions", NULL, "Functions", GT_REPORT_COUNT, GT_BY_TASK | GT_BY_MODULE, AT(functions)},
    {"tid", NULL, "TID", GT_REPORT_NUMBER, GT_BY_TASK, AT(tid)},
    {"pid", NULL, "PID", GT_REPORT_NUMBER, GT_BY_TASK, AT(pid)},
    {"open", NULL, "Open", GT_REPORT_COUNT, ALL, AT(open), .if_any = true},
    {0},
};

/* ---- reading ------------------------------------------------------------------------------- */

static int make_functions(struct gt_reading *r, struct gt_report_rows *out, struct gt_error *err)
{
    struct gt_function_table f;
    int status = gt_function_table_make(r->calls, &r->window.calls, 0, &f, err);
    if (status < 0)
        return status;
    out->row = g_new0(struct gt_report_row, f.n + 1);
    for (size_t i = 0; i < f.n; i++) {
        const struct gt_function_sums *s = &f.row[i].sums;
        const struct gt_calls_function *of = gt_calls_function(r->calls, f.row[i].function);
        out->row[out->n++] = (struct gt_report_row){
            .name = gt_reading_name(r, f.row[i].function),
            .module = of->module,
            .file = of->file,
            .line = of->line,
            .calls = s->calls,
            .open = s->open,
            .total = s->total,
            .slept = s->slept,
            .total_avg = gt_function_total_avg(s),
            .total_min = s->total_min,
            .total_max = s->total_max,
            .self = (uint64_t)s->self,
            .self_avg = gt_function_self_avg(s),
            .self_min = (uint64_t)s->self_min,
            .self_max = (uint64_t)s->self_max,
        };
    }
    gt_function_table_clear(&f);
    return 0;
}

static struct gt_report_row make_task(const struct gt_calls *c, const struct gt_group_row *g)
{
    const struct gt_calls_task *t = gt_calls_task(c, g->index);
    return (struct gt_report_row){.name = t->name,
                                  .calls = g->calls,
                                  .open = g->open,
                                  .total = g->total,
                                  .slept = g->slept,
                                  .self = (uint64_t)g->self,
                                  .functions = g->functions,
                                  .tid = t->id,
                                  .pid = gt_calls_process(c, t->process)->pid};
}

static struct gt_report_row make_module(const struct gt_calls *c, const struct gt_group_row *g)
{
    return (struct gt_report_row){.name = gt_calls_function(c, g->index)->module,
                                  .calls = g->calls,
                                  .open = g->open,
                                  .total = g->total,
                                  .slept = g->slept,
                                  .self = (uint64_t)g->self,
                                  .functions = g->functions};
}

int gt_report_make(struct gt_reading *r, enum gt_report_by by, struct gt_report_rows *out,
                   struct gt_error *err)
{
    struct gt_groups g;
    *out = (struct gt_report_rows){0};
    if (by == GT_BY_FUNCTION)
        return make_functions(r, out, err);
    int status = by == GT_BY_TASK ? gt_groups_of_tasks(r->calls, &r->window.calls, &g, err)
                                  : gt_groups_of_modules(r->calls, &r->window.calls, &g, err);
    if (status < 0)
        return status;
    out->row = g_new0(struct gt_report_row, g.n + 1);
    for (; out->n < g.n; out->n++)
        out->row[out->n] = by == GT_BY_TASK ? make_task(r->calls, &g.row[out->n])
                                            : make_module(r->calls, &g.row[out->n]);
    gt_groups_clear(&g);
    return 0;
}

/* ---- sorting ------------------------------------------------------------------------------- */

enum { KEYS_MAX = 16 };

/* What to compare, in turn: columns; the module; the name. */
struct keys {
    const struct gt_report_column *column[KEYS_MAX]; /* NULL: a text */
    size_t text[KEYS_MAX];                           /* offset of the const char * in the row */
    size_t n;
};

static int compare_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

static const char *text_at(const struct gt_report_row *row, size_t offset)
{
    return *(const char *const *)(const void *)((const char *)row + offset);
}

static int compare(const void *a, const void *b, void *arg)
{
    const struct keys *k = arg;
    const struct gt_report_row *x = a, *y = b;
    if (x->key || y->key)
        return x->key < y->key ? -1 : x->key > y->key;
    for (size_t i = 0; i < k->n; i++) {
        int order;
        if (k->column[i]) {
            uint64_t p = gt_report_value(k->column[i], x), q = gt_report_value(k->column[i], y);
            order = p > q ? -1 : p < q;
        } else {
            order = compare_text(text_at(x, k->text[i]), text_at(y, k->text[i]));
        }
        if (order)
            return order;
    }
    int order = compare_text(x->name, y->name);
    if (order == 0)
        order = compare_text(x->module, y->module);
    return order ? order : x->tid < y->tid ? -1 : x->tid > y->tid;
}

static bool add_column(struct keys *k, const char *key, enum gt_report_by by)
{
    for (const struct gt_report_column *c = gt_report_columns; c->key; c++)
        if (c->by & by && (strcmp(c->key, key) == 0 || (c->alias && strcmp(c->alias, key) == 0))) {
            k->column[k->n++] = c;
            return true;
        }
    return false;
}

static bool add_key(struct keys *k, const char *key, enum gt_report_by by)
{
    if (k->n == KEYS_MAX)
        return false;
    if (strcmp(key, "name") == 0 || strcmp(key, "func") == 0)
        k->text[k->n++] = AT(name);
    else if (by == GT_BY_FUNCTION && strcmp(key, "module") == 0)
        k->text[k->n++] = AT(module);
    else
        return add_column(k, key, by);
    return true;
}

static int unknown_key(const char *key, enum gt_report_by by, struct gt_error *err)
{
    g_autoptr(GString) all = g_string_new("name");
    if (by == GT_BY_FUNCTION)
        g_string_append(all, ", module");
    for (const struct gt_report_column *c = gt_report_columns; c->key; c++)
        if (c->by & by)
            g_string_append_printf(all, ", %s", c->key);
    return gt_error_set(err, GT_E_USAGE, "--sort: no column '%s'; there are: %s", key, all->str);
}

int gt_report_sort(const struct gt_report_rows *rows, enum gt_report_by by, const char *keys,
                   struct gt_error *err)
{
    struct keys k = {.n = 0};
    g_auto(GStrv) list = g_strsplit(keys, ",", -1);
    for (char **key = list; *key; key++)
        if (!add_key(&k, *key, by))
            return unknown_key(*key, by, err);
    if (rows->n > 0)
        qsort_r(rows->row, rows->n, sizeof *rows->row, compare, &k);
    return 0;
}
