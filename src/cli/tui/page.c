/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages of `guesttrace tui`: see page.h. */
#include "cli/tui/page.h"

#include <stdlib.h>
#include <string.h>

/* ---- lines --------------------------------------------------------------------------------- */

static void list_tree(struct gt_tui_page *p)
{
    for (uint32_t i = 1; i < p->n_nodes;) {
        const struct gtrace_node *n = &p->node[i];
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

void gt_tui_page_list(struct gt_tui_page *p)
{
    g_array_set_size(p->lines, 0);
    list_tree(p);
    for (uint32_t i = 0; i < p->n_rows; i++) {
        const struct gtrace_sum *row = &p->row[i];
        const struct gt_tui_line line = {.calls = row->calls,
                                         .unreturned = row->open,
                                         .total = row->total,
                                         .slept = row->slept,
                                         .self = (int64_t)row->self,
                                         .function = p->texts ? UINT32_MAX : row->index,
                                         .node = p->texts ? row->index : i};
        g_array_append_val(p->lines, line);
    }
    for (uint32_t i = 0; p->texts && !p->row && i < p->texts->len; i++) {
        const struct gt_tui_line line = {.node = i, .function = UINT32_MAX};
        g_array_append_val(p->lines, line);
    }
    p->at = p->lines->len ? MIN(p->at, p->lines->len - 1) : 0;
}

struct gt_tui_page *gt_tui_page_new(enum gt_tui_kind kind, char *title)
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
    gtrace_free(p->node);
    gtrace_free(p->row);
    if (p->free_hits)
        p->free_hits(p->hits);
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
    p->open = g_new0(bool, p->n_nodes + 1);
    for (uint32_t i = 1; i + 1 < p->n_nodes && p->node[i].end == p->n_nodes; i++)
        p->open[i] = true;
}

int gt_tui_page_graph(struct gt_cli_reading *r, struct gt_tui_page **out, struct gt_error *err)
{
    struct gt_tui_page *p = gt_tui_page_new(GT_TUI_TREE, g_strdup("all calls"));
    struct gtrace_error e = {.size = sizeof e};
    size_t stride;
    const int64_t n = gtrace_tree(r->trace, &r->window.part, NULL, &p->node, &stride, &e);
    p->n_nodes = (uint32_t)MAX(n, 0);
    p->whole = p->n_nodes ? p->node[0].total : 0;
    open_ways(p);
    gt_tui_page_list(p);
    *out = p;
    return n < 0 ? gt_cli_opened_fail(err, (int)n, &e) : 0;
}

int gt_tui_page_part(struct gt_cli_reading *r, const struct gt_tui_page *graph, uint32_t function,
                     bool callers, struct gt_tui_page **out, struct gt_error *err)
{
    /* Trees and tables have one function for all of its name and module. */
    g_autofree bool *chosen = g_new0(bool, gtrace_n_functions(r->trace) + 1);
    chosen[function] = true;
    struct gt_tui_page *p =
        gt_tui_page_new(GT_TUI_TREE, g_strdup_printf("%s %s", callers ? "callers of" : "calls of",
                                                     gt_cli_reading_name(r, function)));
    const struct gtrace_tree_options how = {.size = sizeof how, .callers = callers};
    struct gtrace_error e = {.size = sizeof e};
    size_t stride;
    const int64_t n =
        gtrace_tree_of(r->trace, graph->node, graph->n_nodes, chosen, &how, &p->node, &stride, &e);
    p->n_nodes = (uint32_t)MAX(n, 0);
    open_ways(p);
    gt_tui_page_list(p);
    *out = p;
    return n < 0 ? gt_cli_opened_fail(err, (int)n, &e) : 0;
}

struct sorting {
    struct gt_cli_reading *reading;
    enum gt_tui_sort sort;
};

static int compare_numbers(int64_t a, int64_t b)
{
    return a > b ? -1 : a < b;
}

static gint compare_rows(gconstpointer a, gconstpointer b, gpointer self)
{
    const struct gtrace_sum *x = a, *y = b;
    const struct sorting *s = self;
    int order = 0;
    if (s->sort == GT_TUI_BY_TOTAL)
        order = compare_numbers((int64_t)x->total, (int64_t)y->total);
    else if (s->sort == GT_TUI_BY_SELF)
        order = compare_numbers((int64_t)x->self, (int64_t)y->self);
    else if (s->sort == GT_TUI_BY_CALLS)
        order = compare_numbers((int64_t)x->calls, (int64_t)y->calls);
    if (order)
        return order;
    return strcmp(gt_cli_reading_function(s->reading, x->index).symbol,
                  gt_cli_reading_function(s->reading, y->index).symbol);
}

/* Line 0 is of all tasks. */
static gint compare_tasks(gconstpointer a, gconstpointer b, gpointer self)
{
    const struct gtrace_sum *x = a, *y = b;
    const struct sorting *s = self;
    int order = 0;
    if (!x->index || !y->index)
        return x->index > y->index ? 1 : x->index < y->index ? -1 : 0;
    if (s->sort == GT_TUI_TASKS_BY_TOTAL)
        order = compare_numbers((int64_t)x->total, (int64_t)y->total);
    else if (s->sort == GT_TUI_TASKS_BY_CALLS)
        order = compare_numbers((int64_t)x->calls, (int64_t)y->calls);
    else if (s->sort == GT_TUI_TASKS_BY_SLEPT)
        order = compare_numbers((int64_t)x->slept, (int64_t)y->slept);
    return order ? order : x->index < y->index ? -1 : 1;
}

static void sort_rows(struct gt_cli_reading *r, struct gt_tui_page *p)
{
    struct sorting s = {r, p->sort};
    if (p->n_rows && p->kind == GT_TUI_TASKS)
        g_qsort_with_data(p->row, (gint)p->n_rows, sizeof *p->row, compare_tasks, &s);
    else if (p->n_rows)
        g_qsort_with_data(p->row, (gint)p->n_rows, sizeof *p->row, compare_rows, &s);
    gt_tui_page_list(p);
}

int gt_tui_page_report(struct gt_cli_reading *r, struct gt_tui_page **out, struct gt_error *err)
{
    struct gt_tui_page *p = gt_tui_page_new(GT_TUI_FUNCTIONS, g_strdup("functions"));
    struct gtrace_error e = {.size = sizeof e};
    size_t stride;
    const int64_t n =
        gtrace_sums(r->trace, &r->window.part, GTRACE_BY_FUNCTION, &p->row, &stride, &e);
    p->n_rows = (uint32_t)MAX(n, 0);
    sort_rows(r, p);
    *out = p;
    return n < 0 ? gt_cli_opened_fail(err, (int)n, &e) : 0;
}

/* Nodes below the outermost ones of the function. Of a function that calls itself, at once or
 * through others, the outermost call's total has the others. */
static void sum_below(const struct gt_tui_page *graph, uint32_t function, struct gtrace_sum *sums,
                      size_t n)
{
    g_autofree uint32_t *until = g_new0(uint32_t, n);
    for (uint32_t i = 1, end = 0; i < graph->n_nodes; i++) {
        const struct gtrace_node *node = &graph->node[i];
        if (node->function == function && i >= end)
            end = node->end;
        if (i >= end || node->function >= n)
            continue;
        struct gtrace_sum *s = &sums[node->function];
        s->calls += node->calls;
        s->open += node->open;
        s->self += (uint64_t)node->self;
        if (i < until[node->function])
            continue;
        s->total += node->total;
        s->slept += node->slept;
        until[node->function] = node->end;
    }
}

struct gt_tui_page *gt_tui_page_report_below(struct gt_cli_reading *r,
                                             const struct gt_tui_page *graph, uint32_t function)
{
    const size_t n = gtrace_n_functions(r->trace);
    struct gt_tui_page *p = gt_tui_page_new(
        GT_TUI_FUNCTIONS, g_strdup_printf("functions below %s", gt_cli_reading_name(r, function)));
    p->row = calloc(n + 1, sizeof *p->row);
    if (p->row)
        sum_below(graph, function, p->row, n);
    for (uint32_t i = 0; p->row && i < n; i++)
        if (p->row[i].calls) {
            p->row[p->n_rows] = p->row[i];
            p->row[p->n_rows++].index = i;
        }
    sort_rows(r, p);
    return p;
}

struct gt_tui_page *gt_tui_page_texts(enum gt_tui_kind kind, const char *title, GPtrArray *texts)
{
    struct gt_tui_page *p = gt_tui_page_new(kind, g_strdup(title));
    p->texts = texts;
    gt_tui_page_list(p);
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
    gt_tui_page_list(p);
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
    if (!line || !p->n_nodes)
        return;
    const struct gtrace_node *node = p->node;
    for (uint32_t i = line->node, end = node[i].end; i < end; i++)
        p->open[i] = open && node[i].end > i + 1;
    gt_tui_page_list(p);
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

void gt_tui_page_sort(struct gt_cli_reading *r, struct gt_tui_page *p)
{
    p->sort = (p->sort + 1) % GT_TUI_SORTS;
    p->at = 0;
    sort_rows(r, p);
}

/* Opens all that a node is below, and chooses it. */
static void show_node(struct gt_tui_page *p, uint32_t node)
{
    const struct gtrace_node *n = p->node;
    for (uint32_t i = n[node].parent; i != GTRACE_NONE; i = n[i].parent)
        p->open[i] = true;
    gt_tui_page_list(p);
    for (p->at = 0; gt_tui_page_line(p)->node != node;)
        p->at++;
}

/* Node i of a tree, else line i. */
static bool is_sought(const struct gt_tui_page *p, const struct gt_tui_search *s, uint32_t i)
{
    if (p->n_nodes)
        return p->node[i].parent != GTRACE_NONE && gt_tui_search_wants(s, p->node[i].function);
    const struct gt_tui_line *line = &g_array_index(p->lines, struct gt_tui_line, i);
    return p->texts ? gt_tui_search_wants_text(s, p->texts->pdata[line->node])
                    : gt_tui_search_wants(s, line->function);
}

bool gt_tui_page_find(struct gt_tui_page *p, const struct gt_tui_search *s, bool back)
{
    const struct gt_tui_line *line = gt_tui_page_line(p);
    const uint32_t n = p->n_nodes ? p->n_nodes : p->lines->len;
    const uint32_t at = !line ? 0 : p->n_nodes ? line->node : p->at;
    for (uint32_t k = 1; line && k <= n; k++) {
        const uint32_t i = (uint32_t)(((uint64_t)at + (back ? n - k : k)) % n);
        if (!is_sought(p, s, i))
            continue;
        if (p->n_nodes)
            show_node(p, i);
        else
            p->at = i;
        return true;
    }
    return false;
}
