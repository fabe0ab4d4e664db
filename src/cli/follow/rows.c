/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of a followed recording, and all of it as JSON: see rows.h. */
#include "cli/follow/rows.h"

#include "base/text.h"

#include <string.h>

const char *const gt_cli_follow_sort_names[GT_FOLLOW_SORTS + 1] = {
    "self", "total", "calls", "all-self", "all-total", "all-calls", "name", NULL};

/* ---- rows ---------------------------------------------------------------------------------- */

static uint64_t key_of(const struct gt_cli_follow_row *row, enum gt_cli_follow_sort sort)
{
    const struct gt_calls_follow_sum *now = &row->sums.now, *all = &row->sums.all;
    const uint64_t keys[GT_FOLLOW_SORTS] = {now->self,  now->total, now->calls, all->self,
                                            all->total, all->calls, 0};
    return keys[sort];
}

int gt_cli_follow_seek(struct gt_cli_follow *f, const char *text, struct gt_error *err)
{
    struct gt_profile_find *find = NULL;
    const int status = *text ? gt_profile_find_parse(text, &find, err) : 0;
    if (status < 0)
        return status;
    gt_profile_find_free(f->find);
    g_free(f->sought);
    g_free(f->glob);
    f->find = find;
    f->sought = find ? g_strdup(text) : NULL;
    f->glob = NULL;
    f->others = false;
    return 0;
}

/* Counts those that were found, whether they run or not. */
static bool is_wanted(struct gt_cli_follow *f, const char *name, struct gt_cli_follow_row *row)
{
    g_autofree char *small = f->glob && f->any_case ? g_ascii_strdown(name, -1) : NULL;
    if (f->glob && !gt_text_glob_fits(f->glob, small ? small : name))
        return false;
    row->found = f->find ? gt_profile_find_match(f->find, name, row->module) : GT_FOUND;
    f->found += row->found != GT_FOUND_NOT;
    f->exact += row->found == GT_FOUND_EXACTLY;
    return row->found != GT_FOUND_NOT;
}

/* A function that has not run since the last look is shown where rows are sorted by older sums. */
static void add_row(struct gt_cli_follow *f, const char *name, struct gt_cli_follow_row *row)
{
    const bool by_all =
        f->idle || (f->sort >= GT_FOLLOW_BY_ALL_SELF && f->sort <= GT_FOLLOW_BY_ALL_CALLS);
    const struct gt_calls_follow_sum *shown = by_all ? &row->sums.all : &row->sums.now;
    if (is_wanted(f, name, row) && (shown->calls || shown->self || shown->total))
        g_array_append_vals(f->rows, row, 1);
}

/* Where some names are exactly the text, others are left out. */
static void prefer_exact(struct gt_cli_follow *f)
{
    struct gt_cli_follow_row *row = (void *)f->rows->data;
    guint n = 0;
    if (!f->exact || f->others)
        return;
    for (guint i = 0; i < f->rows->len; i++)
        if (row[i].found == GT_FOUND_EXACTLY)
            row[n++] = row[i];
    g_array_set_size(f->rows, n);
}

/* Rows of other things than functions come last. */
static gint compare_rows(gconstpointer a, gconstpointer b, gpointer follow)
{
    const struct gt_cli_follow *f = follow;
    const struct gt_cli_follow_row *x = a, *y = b;
    const uint64_t of_x = key_of(x, f->sort), of_y = key_of(y, f->sort);
    if (x->suspends != y->suspends)
        return x->suspends ? 1 : -1;
    if (of_x != of_y)
        return of_x > of_y ? -1 : 1;
    int order = strcmp(x->name, y->name);
    if (order == 0 && x->module)
        order = strcmp(x->module, y->module);
    return order ? order : x->task < y->task ? -1 : x->task > y->task;
}

static void add_sum(struct gt_calls_follow_sum *to, const struct gt_calls_follow_sum *more)
{
    to->calls += more->calls;
    to->self += more->self;
    to->total += more->total;
    to->slept += more->slept;
}

static void to_wall(struct gt_calls_follow_sum *s)
{
    s->total += s->slept;
    s->slept = 0;
}

static void list_tasks(struct gt_cli_follow *f)
{
    f->sums = (struct gt_calls_follow_sums){0};
    for (size_t i = 0; i < gt_calls_follow_n_tasks(f->calls); i++) {
        const struct gt_calls_follow_task *task = gt_calls_follow_task(f->calls, i);
        struct gt_cli_follow_row row = {.name = task->name, .task = task->id, .sums = task->sums};
        add_sum(&f->sums.now, &task->sums.now);
        add_sum(&f->sums.all, &task->sums.all);
        if (f->by_task)
            add_row(f, row.name, &row);
    }
}

static void list_functions(struct gt_cli_follow *f)
{
    for (size_t i = 0; i < gt_calls_follow_n_functions(f->calls); i++) {
        const struct gt_calls_follow_function *of = gt_calls_follow_function(f->calls, i);
        struct gt_cli_follow_row row = {
            .name = of->name, .module = of->module, .suspends = of->suspends, .sums = of->sums};
        if (of->suspends && !f->wall)
            continue;
        if (f->wall) {
            to_wall(&row.sums.now);
            to_wall(&row.sums.all);
        }
        add_row(f, gt_image_demangle(f->demangler, of->name), &row);
    }
}

void gt_cli_follow_list(struct gt_cli_follow *f)
{
    g_array_set_size(f->rows, 0);
    f->found = f->exact = 0;
    list_tasks(f);
    if (!f->by_task)
        list_functions(f);
    prefer_exact(f);
    g_array_sort_with_data(f->rows, compare_rows, f);
    f->fit = f->rows->len;
    if (f->limit && f->rows->len > f->limit)
        g_array_set_size(f->rows, (guint)f->limit);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void put_sums(struct gt_json *j, const struct gt_calls_follow_sums *s)
{
    gt_json_member_u64(j, "self_ns", s->now.self);
    gt_json_member_u64(j, "total_ns", s->now.total);
    gt_json_member_u64(j, "slept_ns", s->now.slept);
    gt_json_member_u64(j, "calls", s->now.calls);
    gt_json_member_u64(j, "all_self_ns", s->all.self);
    gt_json_member_u64(j, "all_total_ns", s->all.total);
    gt_json_member_u64(j, "all_slept_ns", s->all.slept);
    gt_json_member_u64(j, "all_calls", s->all.calls);
}

static void put_row(const struct gt_cli_follow *f, const struct gt_cli_follow_row *row,
                    struct gt_json *j)
{
    gt_json_begin_object(j);
    if (row->module) {
        gt_json_member_text(j, "function", gt_image_demangle(f->demangler, row->name));
        gt_json_member_text(j, "module", row->module);
    } else {
        gt_json_member_text(j, "task", row->name);
        gt_json_member_u64(j, "tid", row->task);
    }
    put_sums(j, &row->sums);
    gt_json_end_object(j);
}

static void put_facts(const struct gt_cli_follow *f, struct gt_json *j)
{
    const struct gt_calls_follow_facts *facts = gt_calls_follow_facts(f->calls);
    gt_json_member_u64(j, "records", facts->records);
    gt_json_member_u64(j, "bytes", facts->bytes);
    if (facts->vcpus)
        gt_json_member_u64(j, "vcpus", facts->vcpus);
    if (facts->is_counted)
        gt_json_member_u64(j, "anomalies", facts->anomalies);
    gt_json_member_u64(j, "lost", gt_calls_follow_lost(f->calls));
}

void gt_cli_follow_put(const struct gt_cli_follow *f, const char *state, struct gt_json *j)
{
    gt_json_member_text(j, "recording", f->path);
    gt_json_member_text(j, "state", state);
    gt_json_member_text(j, "since", gt_calls_follow_is_part(f->calls) ? "top" : "begin");
    gt_json_member_u64(j, "ms", (uint64_t)(f->seconds * 1000));
    gt_json_member_u64(j, "tasks", gt_calls_follow_n_tasks(f->calls));
    put_facts(f, j);
    put_sums(j, &f->sums);
    gt_json_member_u64(j, "fit", f->fit);
    gt_json_key(j, "rows");
    gt_json_begin_array(j);
    for (guint i = 0; i < f->rows->len; i++)
        put_row(f, &g_array_index(f->rows, struct gt_cli_follow_row, i), j);
    gt_json_end_array(j);
}

void gt_cli_follow_answer(struct gt_cli_follow *f, const struct gt_cli_follow_choice *c,
                          const char *state, struct gt_json *j)
{
    const bool is_glob = c->match && strpbrk(c->match, "*?");
    g_autofree char *glob = c->match && *c->match && !is_glob ? g_strdup_printf("*%s*", c->match)
                                                              : g_strdup(is_glob ? c->match : NULL);
    g_free(f->glob);
    f->glob = glob ? g_ascii_strdown(glob, -1) : NULL;
    f->any_case = f->idle = true;
    f->by_task = c->by_task;
    f->sort = c->sort;
    f->limit = c->limit;
    gt_cli_follow_list(f);
    gt_cli_follow_put(f, state, j);
}
