/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages of `guesttrace tui`: see page.h. */
#include "cli/tui/page.h"

#include "calls/profile/select.h"

#include <stdlib.h>
#include <string.h>

/* ---- lines --------------------------------------------------------------------------------- */

static void list_tree(struct gt_tui_page *p)
{
    const struct gt_tree *t = &p->tree;
    for (uint32_t i = 1; i < t->n;) {
        const struct gt_tree_node *n = &t->node[i];
        const struct gt_tui_line line = {.calls = n->calls,
                                         .unreturned = n->open,
                                         .total = n->total,
                                         .slept = n->slept,
                                         .self = n->self,
                                         .function = n->function,
                                         .node = i,
                                         .depth = n->depth - 1,
                                         .has_more = n->end > i + 1,
                                         .is_open = p->open[i]};
        g_array_append_val(p->lines, line);
        i = p->open[i] ? i + 1 : n->end;
    }
}

static void list_all(struct gt_tui_page *p)
{
    g_array_set_size(p->lines, 0);
    list_tree(p);
    for (uint32_t i = 0; i < p->table.n; i++) {
        const struct gt_function_row *row = &p->table.row[i];
        const struct gt_tui_line line = {.calls = row->sums.calls,
                                         .unreturned = row->sums.open,
                                         .total = row->sums.total,
                                         .slept = row->sums.slept,
                                         .self = row->sums.self,
                                         .function = row->function,
                                         .node = i};
        g_array_append_val(p->lines, line);
    }
    for (uint32_t i = 0; p->texts && i < p->texts->len; i++) {
        const struct gt_tui_line line = {.node = i, .function = UINT32_MAX};
        g_array_append_val(p->lines, line);
    }
    p->at = p->lines->len ? MIN(p->at, p->lines->len - 1) : 0;
}

static struct gt_tui_page *page_new(enum gt_tui_kind kind, char *title)
{
    struct gt_tui_page *p = g_new0(struct gt_tui_page, 1);
    p->kind = kind;
    p->title = title;
    p->lines = g_array_new(FALSE, FALSE, sizeof(struct gt_tui_line));
    return p;
}

void gt_tui_page_destroy(struct gt_tui_page *p)
{
    if (!p)
        return;
    gt_tree_clear(&p->tree);
    gt_function_table_clear(&p->table);
    g_array_free(p->lines, TRUE);
    if (p->texts)
        g_ptr_array_free(p->texts, TRUE);
    g_free(p->open);
    g_free(p->title);
    g_free(p);
}

/* ---- making -------------------------------------------------------------------------------- */

/* Ways that do not branch are open from the beginning. */
static void open_ways(struct gt_tui_page *p)
{
    const struct gt_tree *t = &p->tree;
    p->open = g_new0(bool, t->n + 1);
    for (uint32_t i = 1; i + 1 < t->n && t->node[i].end == t->n; i++)
        p->open[i] = true;
}

int gt_tui_page_graph(struct gt_reading *r, struct gt_tui_page **out, struct gt_error *err)
{
    const struct gt_tree_options how = {.window = &r->window.calls, .by_name = true};
    struct gt_tui_page *p = page_new(GT_TUI_TREE, g_strdup("all calls"));
    int status = gt_tree_make(r->calls, &how, &p->tree, err);
    open_ways(p);
    list_all(p);
    *out = p;
    return status;
}

int gt_tui_page_part(struct gt_reading *r, const struct gt_tui_page *graph, uint32_t function,
                     bool callers, struct gt_tui_page **out, struct gt_error *err)
{
    /* Trees and tables have one function for all of its name and module. */
    g_autofree bool *chosen = g_new0(bool, gt_calls_n_functions(r->calls) + 1);
    chosen[function] = true;
    struct gt_tui_page *p =
        page_new(GT_TUI_TREE, g_strdup_printf("%s %s", callers ? "callers of" : "calls of",
                                              gt_reading_name(r, function)));
    int status = (callers ? gt_tree_callers : gt_tree_below)(&graph->tree, r->calls, chosen,
                                                             GT_TREE_BY_TOTAL, &p->tree);
    open_ways(p);
    list_all(p);
    *out = p;
    return status < 0 ? gt_error_set(err, status, "out of memory") : 0;
}

struct sorting {
    struct gt_reading *reading;
    enum gt_tui_sort sort;
};

static int compare_numbers(int64_t a, int64_t b)
{
    return a > b ? -1 : a < b;
}

static gint compare_rows(gconstpointer a, gconstpointer b, gpointer self)
{
    const struct gt_function_row *x = a, *y = b;
    const struct sorting *s = self;
    int order = 0;
    if (s->sort == GT_TUI_BY_TOTAL)
        order = compare_numbers((int64_t)x->sums.total, (int64_t)y->sums.total);
    else if (s->sort == GT_TUI_BY_SELF)
        order = compare_numbers(x->sums.self, y->sums.self);
    else if (s->sort == GT_TUI_BY_CALLS)
        order = compare_numbers((int64_t)x->sums.calls, (int64_t)y->sums.calls);
    if (order)
        return order;
    return strcmp(gt_calls_function(s->reading->calls, x->function)->name,
                  gt_calls_function(s->reading->calls, y->function)->name);
}

static void sort_rows(struct gt_reading *r, struct gt_tui_page *p)
{
    struct sorting s = {r, p->sort};
    if (p->table.n)
        g_qsort_with_data(p->table.row, (gint)p->table.n, sizeof *p->table.row, compare_rows, &s);
    list_all(p);
}

int gt_tui_page_report(struct gt_reading *r, struct gt_tui_page **out, struct gt_error *err)
{
    struct gt_tui_page *p = page_new(GT_TUI_FUNCTIONS, g_strdup("functions"));
    int status = gt_function_table_make(r->calls, &r->window.calls, 0, &p->table, err);
    sort_rows(r, p);
    *out = p;
    return status;
}

/* Nodes below the outermost ones of the function. Of a function that calls itself, at once or
 * through others, the outermost call's total has the others. */
static void sum_below(const struct gt_tree *t, uint32_t function, struct gt_function_sums *sums,
                      size_t n)
{
    g_autofree uint32_t *until = g_new0(uint32_t, n);
    for (uint32_t i = 0, end = 0; i < t->n; i++) {
        const struct gt_tree_node *node = &t->node[i];
        if (node->function == function && i >= end)
            end = node->end;
        if (i >= end || node->function >= n)
            continue;
        struct gt_function_sums *s = &sums[node->function];
        s->calls += node->calls;
        s->open += node->open;
        s->self += node->self;
        if (i < until[node->function])
            continue;
        s->total += node->total;
        s->slept += node->slept;
        until[node->function] = node->end;
    }
}

struct gt_tui_page *gt_tui_page_report_below(struct gt_reading *r, const struct gt_tui_page *graph,
                                             uint32_t function)
{
    const size_t n = gt_calls_n_functions(r->calls);
    g_autofree struct gt_function_sums *sums = g_new0(struct gt_function_sums, n + 1);
    struct gt_tui_page *p = page_new(
        GT_TUI_FUNCTIONS, g_strdup_printf("functions below %s", gt_reading_name(r, function)));
    sum_below(&graph->tree, function, sums, n);
    p->table.row = calloc(n + 1, sizeof *p->table.row);
    for (uint32_t i = 0; p->table.row && i < n; i++)
        if (sums[i].calls)
            p->table.row[p->table.n++] = (struct gt_function_row){sums[i], i};
    sort_rows(r, p);
    return p;
}

struct gt_tui_page *gt_tui_page_texts(enum gt_tui_kind kind, const char *title, GPtrArray *texts)
{
    struct gt_tui_page *p = page_new(kind, g_strdup(title));
    p->texts = texts;
    list_all(p);
    return p;
}

/* ---- walking ------------------------------------------------------------------------------- */

const struct gt_tui_line *gt_tui_page_line(const struct gt_tui_page *p)
{
    return p->at < p->lines->len ? &g_array_index(p->lines, struct gt_tui_line, p->at) : NULL;
}

bool gt_tui_page_open(struct gt_tui_page *p, bool open)
{
    const struct gt_tui_line *line = gt_tui_page_line(p);
    if (!line || !line->has_more || line->is_open == open)
        return false;
    p->open[line->node] = open;
    list_all(p);
    return true;
}

void gt_tui_page_enter(struct gt_tui_page *p)
{
    const struct gt_tui_line *line = gt_tui_page_line(p);
    if (line && line->is_open)
        p->at++;
}

void gt_tui_page_up(struct gt_tui_page *p)
{
    const struct gt_tui_line *line = gt_tui_page_line(p);
    const uint32_t depth = line ? line->depth : 0;
    while (depth && p->at > 0 && gt_tui_page_line(p)->depth >= depth)
        p->at--;
}

void gt_tui_page_open_all(struct gt_tui_page *p, bool open)
{
    const struct gt_tui_line *line = gt_tui_page_line(p);
    if (!line || !p->tree.n)
        return;
    const struct gt_tree_node *node = p->tree.node;
    for (uint32_t i = line->node, end = node[i].end; i < end; i++)
        p->open[i] = open && node[i].end > i + 1;
    list_all(p);
}

void gt_tui_page_sibling(struct gt_tui_page *p, bool next)
{
    const struct gt_tui_line *line = gt_tui_page_line(p), *all = (void *)p->lines->data;
    if (!line)
        return;
    const uint32_t depth = line->depth;
    for (guint i = p->at; next ? ++i < p->lines->len : i-- > 0;) {
        if (all[i].depth < depth)
            return;
        if (all[i].depth == depth) {
            p->at = i;
            return;
        }
    }
}

void gt_tui_page_sort(struct gt_reading *r, struct gt_tui_page *p)
{
    p->sort = (p->sort + 1) % GT_TUI_SORTS;
    p->at = 0;
    sort_rows(r, p);
}

static bool is_named(struct gt_reading *r, const struct gt_tui_page *p, uint32_t i,
                     const char *text)
{
    if (p->texts)
        return strstr(p->texts->pdata[i], text) != NULL;
    const uint32_t function = p->tree.n ? p->tree.node[i].function : p->table.row[i].function;
    return function != GT_TREE_NONE && strstr(gt_reading_name(r, function), text);
}

/* Opens all that a node is below, and chooses it. */
static void show_node(struct gt_tui_page *p, uint32_t node)
{
    const struct gt_tree_node *n = p->tree.node;
    for (uint32_t i = n[node].parent; i != GT_TREE_NONE; i = n[i].parent)
        p->open[i] = true;
    list_all(p);
    for (p->at = 0; gt_tui_page_line(p)->node != node;)
        p->at++;
}

bool gt_tui_page_find(struct gt_reading *r, struct gt_tui_page *p, const char *text, bool back)
{
    const struct gt_tui_line *line = gt_tui_page_line(p);
    const uint32_t n = p->texts ? p->texts->len : (uint32_t)(p->tree.n ? p->tree.n : p->table.n);
    for (uint32_t k = 1, at = line ? line->node : 0; line && k <= n; k++) {
        const uint32_t i = (uint32_t)(((uint64_t)at + (back ? n - k : k)) % n);
        if (!is_named(r, p, i, text))
            continue;
        if (p->tree.n)
            show_node(p, i);
        else
            p->at = i;
        return true;
    }
    return false;
}
