/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of a report: read, and sorted. See report.h. */
#include "cli/report/report.h"

#include <string.h>

#define CALLS  (GT_BY_FUNCTION | GT_BY_VALUE) /* rows of single calls */
#define ALL    (CALLS | GT_BY_TASK | GT_BY_MODULE)
#define TIMES  (ALL | GT_BY_INITCALL)
#define AT(of) offsetof(struct gt_cli_report_row, of)

const struct gt_cli_report_column gt_cli_report_columns[] = {
    {"total", NULL, "Total time", GT_REPORT_TIME, TIMES, AT(total)},
    {"self", NULL, "Self time", GT_REPORT_TIME, CALLS | GT_BY_MODULE | GT_BY_INITCALL, AT(self)},
    {"slept", NULL, "Slept", GT_REPORT_TIME, TIMES, AT(slept), .if_any = true},
    {"wall", NULL, "Wall time", GT_REPORT_TIME, GT_BY_INITCALL, AT(wall)},
    {"begin", NULL, "Begin", GT_REPORT_TIME, GT_BY_INITCALL, AT(begin), .up = true},
    {"calls", "call", "Calls", GT_REPORT_COUNT, ALL, AT(calls)},
    {"total-avg", "avg", "Total avg", GT_REPORT_TIME, CALLS, AT(total_avg)},
    {"total-min", "min", "Total min", GT_REPORT_TIME, CALLS, AT(total_min)},
    {"total-max", "max", "Total max", GT_REPORT_TIME, CALLS, AT(total_max)},
    {"self-avg", NULL, NULL, GT_REPORT_TIME, CALLS, AT(self_avg)},
    {"self-min", NULL, NULL, GT_REPORT_TIME, CALLS, AT(self_min)},
    {"self-max", NULL, NULL, GT_REPORT_TIME, CALLS, AT(self_max)},
    {"functions", NULL, "Functions", GT_REPORT_COUNT, GT_BY_TASK | GT_BY_MODULE, AT(functions)},
    {"tid", NULL, "TID", GT_REPORT_NUMBER, GT_BY_TASK | GT_BY_INITCALL, AT(tid)},
    {"pid", NULL, "PID", GT_REPORT_NUMBER, GT_BY_TASK, AT(pid)},
    {"open", NULL, "Open", GT_REPORT_COUNT, TIMES, AT(open), .if_any = true},
    {0},
};

/* ---- reading ------------------------------------------------------------------------------- */

static void name_row(const struct gt_cli_reading *r, enum gt_cli_report_by by, uint32_t index,
                     struct gt_cli_report_row *row)
{
    if (by == GT_BY_TASK) {
        struct gtrace_task t = {.size = sizeof t};
        struct gtrace_process p = {.size = sizeof p};
        gtrace_task(r->trace, index, &t);
        gtrace_process(r->trace, t.process, &p);
        row->name = t.name;
        row->tid = t.id;
        row->pid = p.pid;
        return;
    }
    const struct gtrace_function f = gt_cli_reading_function(r, index);
    if (by == GT_BY_MODULE) {
        row->name = f.module;
        return;
    }
    row->name = f.name;
    row->module = f.module;
    row->file = f.file;
    row->line = f.line;
}

int gt_cli_report_make(struct gt_cli_reading *r, enum gt_cli_report_by by,
                       struct gt_cli_report_rows *out, struct gt_error *err)
{
    struct gtrace_error e = {.size = sizeof e};
    struct gtrace_sum *sums;
    size_t stride;
    *out = (struct gt_cli_report_rows){0};
    const int64_t n = gtrace_sums(r->trace, &r->window.part,
                                  by == GT_BY_TASK     ? GTRACE_BY_TASK
                                  : by == GT_BY_MODULE ? GTRACE_BY_MODULE
                                                       : GTRACE_BY_FUNCTION,
                                  &sums, &stride, &e);
    if (n < 0)
        return gt_cli_opened_fail(err, (int)n, &e);
    out->row = g_new0(struct gt_cli_report_row, (size_t)n + 1);
    for (; out->n < (size_t)n; out->n++) {
        const struct gtrace_sum *s = (const void *)((const char *)sums + out->n * stride);
        out->row[out->n] = (struct gt_cli_report_row){
            .calls = s->calls,
            .open = s->open,
            .total = s->total,
            .slept = s->slept,
            .total_avg = s->mean,
            .total_min = s->shortest,
            .total_max = s->longest,
            .self = s->self,
            .self_avg = s->calls ? s->self / s->calls : 0,
            .self_min = s->self_shortest,
            .self_max = s->self_longest,
            .functions = s->functions,
        };
        name_row(r, by, s->index, &out->row[out->n]);
    }
    gtrace_free(sums);
    return 0;
}

/* ---- sorting ------------------------------------------------------------------------------- */

enum { KEYS_MAX = 16 };

/* What to compare, in turn: columns; the module; the name. */
struct keys {
    const struct gt_cli_report_column *column[KEYS_MAX]; /* NULL: a text */
    size_t text[KEYS_MAX];                               /* offset of the const char * in the row */
    size_t n;
};

static int compare_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

static const char *text_at(const struct gt_cli_report_row *row, size_t offset)
{
    return *(const char *const *)(const void *)((const char *)row + offset);
}

static int compare(const void *a, const void *b, void *arg)
{
    const struct keys *k = arg;
    const struct gt_cli_report_row *x = a, *y = b;
    if (x->key || y->key)
        return x->key < y->key ? -1 : x->key > y->key;
    for (size_t i = 0; i < k->n; i++) {
        int order;
        if (k->column[i]) {
            uint64_t p = gt_cli_report_value(k->column[i], x),
                     q = gt_cli_report_value(k->column[i], y);
            order = p > q ? -1 : p < q;
            order = k->column[i]->up ? -order : order;
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

static bool add_column(struct keys *k, const char *key, enum gt_cli_report_by by)
{
    for (const struct gt_cli_report_column *c = gt_cli_report_columns; c->key; c++)
        if (c->by & by && (strcmp(c->key, key) == 0 || (c->alias && strcmp(c->alias, key) == 0))) {
            k->column[k->n++] = c;
            return true;
        }
    return false;
}

static bool add_key(struct keys *k, const char *key, enum gt_cli_report_by by)
{
    if (k->n == KEYS_MAX)
        return false;
    if (strcmp(key, "name") == 0 || strcmp(key, "func") == 0)
        k->text[k->n++] = AT(name);
    else if (by & GT_BY_CODE && strcmp(key, "module") == 0)
        k->text[k->n++] = AT(module);
    else
        return add_column(k, key, by);
    return true;
}

static int unknown_key(const char *key, enum gt_cli_report_by by, struct gt_error *err)
{
    g_autoptr(GString) all = g_string_new("name");
    if (by & GT_BY_CODE)
        g_string_append(all, ", module");
    for (const struct gt_cli_report_column *c = gt_cli_report_columns; c->key; c++)
        if (c->by & by)
            g_string_append_printf(all, ", %s", c->key);
    return gt_error_set(err, GT_E_USAGE, "--sort: no column '%s'; there are: %s", key, all->str);
}

int gt_cli_report_sort(const struct gt_cli_report_rows *rows, enum gt_cli_report_by by,
                       const char *keys, struct gt_error *err)
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
