/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calls that a search has found: see hits.h. */
#include "cli/tui/hits.h"

#include <inttypes.h>
#include <string.h>

enum { MANY = 1000000 }; /* records of a directory: it has no index, and is read from its begin */

struct gt_tui_hits {
    bool *wanted;  /* by function, of n */
    uint32_t *one; /* of each: the one that stands for all of its name and module, as in trees */
    size_t n;
    GArray *rows;      /* struct gtrace_row */
    GPtrArray *values; /* char *, of each row; NULL: not read yet */
    uint64_t all;
    enum gtrace_order by;
    bool reads_much;
};

static void destroy(struct gt_tui_hits *h)
{
    g_array_free(h->rows, TRUE);
    g_ptr_array_free(h->values, TRUE);
    g_free(h->wanted);
    g_free(h->one);
    g_free(h);
}

/* ---- functions ----------------------------------------------------------------------------- */

static void take_functions(struct gt_tui_hits *h, const struct gt_cli_reading *r,
                           const struct gt_tui_search *s)
{
    g_autoptr(GHashTable) known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    h->n = gtrace_n_functions(r->trace);
    h->wanted = g_new0(bool, h->n + 1);
    h->one = g_new0(uint32_t, h->n + 1);
    for (uint32_t i = 0; i < h->n; i++) {
        h->wanted[i] = gt_tui_search_wants(s, i);
        h->one[i] = i;
        if (!h->wanted[i])
            continue;
        const struct gtrace_function f = gt_cli_reading_function(r, i);
        char *key = g_strconcat(f.module, "\n", f.symbol, NULL);
        const gpointer first = g_hash_table_lookup(known, key);
        if (first) {
            h->one[i] = GPOINTER_TO_UINT(first) - 1;
            g_free(key);
        } else {
            g_hash_table_insert(known, key, GUINT_TO_POINTER(i + 1));
        }
    }
}

/* ---- rows ---------------------------------------------------------------------------------- */

static void list_rows(struct gt_tui_page *p)
{
    const struct gt_tui_hits *h = p->hits;
    for (guint i = p->lines->len; i < h->rows->len; i++) {
        const struct gtrace_row *row = &g_array_index(h->rows, struct gtrace_row, i);
        const struct gt_tui_line line = {
            .function = row->function < h->n ? h->one[row->function] : row->function, .node = i};
        g_array_append_val(p->lines, line);
    }
}

/* Those behind the last one. */
static int read_rows(struct gt_cli_reading *r, struct gt_tui_page *p, struct gt_error *err)
{
    struct gt_tui_hits *h = p->hits;
    const guint n = h->rows->len;
    const struct gtrace_row last =
        n ? g_array_index(h->rows, struct gtrace_row, n - 1) : (struct gtrace_row){0};
    const struct gtrace_hits_options how = {.size = sizeof how,
                                            .by = h->by,
                                            .down = h->by == GTRACE_BY_DURATION,
                                            .functions = h->wanted,
                                            .n = h->n,
                                            .after = n ? &last : NULL};
    struct gtrace_error e = {.size = sizeof e};
    struct gtrace_row *row;
    const int64_t more = gtrace_hits(r->trace, &r->window.part, &how, &row, &h->all, &e);
    if (more < 0)
        return gt_cli_opened_fail(err, (int)more, &e);
    g_array_append_vals(h->rows, row, (guint)more);
    g_ptr_array_set_size(h->values, (gint)h->rows->len);
    gtrace_free(row);
    list_rows(p);
    return 0;
}

int gt_tui_hits_make(struct gt_cli_reading *r, const struct gt_tui_search *s,
                     struct gt_tui_page **out, struct gt_error *err)
{
    struct gtrace_facts f = {.size = sizeof f};
    struct gt_tui_hits *h = g_new0(struct gt_tui_hits, 1);
    h->rows = g_array_new(FALSE, FALSE, sizeof(struct gtrace_row));
    h->values = g_ptr_array_new_with_free_func(g_free);
    gtrace_facts(r->trace, &f);
    h->reads_much = r->window.part.filter || (f.form == GTRACE_DIRECTORY && f.records > MANY);
    take_functions(h, r, s);
    *out = gt_tui_page_new(GT_TUI_HITS, g_strdup_printf("calls found by %s", s->text));
    (*out)->hits = h;
    (*out)->free_hits = destroy;
    return read_rows(r, *out, err);
}

int gt_tui_hits_sort(struct gt_cli_reading *r, struct gt_tui_page *p, struct gt_error *err)
{
    static const enum gtrace_order next[] = {[GTRACE_BY_BEGIN] = GTRACE_BY_DURATION,
                                             [GTRACE_BY_DURATION] = GTRACE_BY_TASK_INDEX,
                                             [GTRACE_BY_TASK_INDEX] = GTRACE_BY_NAME,
                                             [GTRACE_BY_NAME] = GTRACE_BY_BEGIN};
    struct gt_tui_hits *h = p->hits;
    h->by = next[h->by];
    p->sort = (enum gt_tui_sort)h->by;
    p->at = 0;
    g_array_set_size(h->rows, 0);
    g_ptr_array_set_size(h->values, 0);
    g_array_set_size(p->lines, 0);
    return read_rows(r, p, err);
}

int gt_tui_hits_more(struct gt_cli_reading *r, struct gt_tui_page *p, struct gt_error *err)
{
    const guint n = p->hits->rows->len;
    return p->at + 1 >= n && n && n < p->hits->all ? read_rows(r, p, err) : 0;
}

uint64_t gt_tui_hits_all(const struct gt_tui_page *p)
{
    return p->hits->all;
}

const struct gtrace_row *gt_tui_hits_row(const struct gt_tui_page *p, uint32_t i)
{
    return &g_array_index(p->hits->rows, struct gtrace_row, i);
}

/* ---- values -------------------------------------------------------------------------------- */

struct one_call {
    const struct gtrace_row *row;
    bool by_depth; /* filters count depths in their own way */
    bool entry;    /* its arguments, else its result */
    GString *text;
};

static void put_value(GString *text, const struct gtrace_value *v)
{
    const char *quote = v->kind == GTRACE_TEXT ? "\"" : "";
    g_string_append_printf(text, "%s%s%s", quote, v->text, quote);
}

static void put_values(const struct one_call *one, const struct gtrace_call *c)
{
    if (!one->entry && c->result) {
        g_string_append(one->text, " = ");
        put_value(one->text, c->result);
    }
    for (uint32_t i = 0; one->entry && i < c->n_arguments; i++) {
        g_string_append_printf(one->text, "%s%s=", i ? ", " : "(", c->arguments[i].name);
        put_value(one->text, &c->arguments[i]);
    }
    if (one->entry && c->n_arguments)
        g_string_append_c(one->text, ')');
}

/* Ends with 1 where the call is. */
static int take(void *self, const struct gtrace_call *call, size_t n, size_t stride)
{
    const struct one_call *one = self;
    for (size_t i = 0; i < n; i++) {
        const struct gtrace_call *c = (const void *)((const char *)call + i * stride);
        const bool here = one->entry ? c->begin == one->row->begin : c->end == one->row->end;
        if (!here || c->task != one->row->task || c->function != one->row->function ||
            (one->by_depth && c->depth != one->row->depth))
            continue;
        put_values(one, c);
        return 1;
    }
    return 0;
}

/* Reads the records of one moment only: a call may be as long as the recording. */
static void read_side(struct gt_cli_reading *r, struct one_call *one, bool entry)
{
    const uint64_t at = MAX(entry ? one->row->begin : one->row->end, 1);
    struct gtrace_task t = {.size = sizeof t};
    char id[16];
    const char *const tasks[] = {id, NULL};
    const struct gtrace_window w = {.size = sizeof w,
                                    .from = at,
                                    .to = at,
                                    .tasks = tasks,
                                    .wall = 1,
                                    .want = GTRACE_WANT_VALUES};
    gtrace_task(r->trace, one->row->task, &t);
    g_snprintf(id, sizeof id, "%" PRIu32, t.id);
    one->entry = entry;
    gtrace_calls(r->trace, &w, take, one, NULL);
}

const char *gt_tui_hits_values(struct gt_cli_reading *r, const struct gt_tui_page *p, uint32_t i,
                               bool now)
{
    char **of = (char **)&g_ptr_array_index(p->hits->values, i);
    if (*of || (p->hits->reads_much && !now))
        return *of ? *of : "";
    struct one_call one = {.row = gt_tui_hits_row(p, i),
                           .by_depth = !r->window.part.filter,
                           .text = g_string_new(NULL)};
    read_side(r, &one, true);
    read_side(r, &one, false);
    *of = g_string_free(one.text, FALSE);
    return *of;
}
