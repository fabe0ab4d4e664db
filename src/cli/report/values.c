/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `guesttrace report --by FUNC:VALUE`: the calls of the functions by a value, as their rows: a row
 * a value, or with --hist a row a range of values, from a power of two to the next.
 *
 * Calls are read in order of time: an argument is known at the entry, and its call is counted at
 * the exit.
 */
#include "cli/function_pattern.h"
#include "cli/report/report.h"
#include "recording/values/payload.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NONE UINT32_MAX

/* An open call whose value is known. */
struct open_call {
    uint32_t depth, row;
};

/* Which value of a function is asked for. */
enum asked { NOT_ASKED_YET, NOT_ASKED, ARGUMENT, RESULT };
struct function {
    uint8_t asked; /* enum asked */
    uint8_t index; /* of the value */
};

struct by_value {
    struct gt_reading *r;
    char *pattern;
    const char *value; /* "arg1", "fparg1", "retval", or a parameter's name */
    bool hist, met;    /* met: some function has such a value */
    GArray *functions; /* struct function, by index */
    GPtrArray *tasks;  /* GArray of struct open_call; NULL: not met */
    GHashTable *rows;  /* text to row + 1 */
    GArray *row;       /* struct gt_report_row */
    GStringChunk *texts;
};

/* ---- which value --------------------------------------------------------------------------- */

static bool is_named(const struct gt_value_item *item, const char *value, size_t i)
{
    char number[24];
    if (item->name && strcmp(item->name, value) == 0)
        return true;
    if (item->is_return)
        return i == 0 && strcmp(value, "retval") == 0;
    snprintf(number, sizeof number, "%s%u", item->is_float ? "fparg" : "arg", item->number);
    return item->number && strcmp(number, value) == 0;
}

static struct function look(struct by_value *b, uint32_t index)
{
    const struct gt_value_spec *spec = gt_calls_value_spec(b->r->calls, index);
    const struct gt_calls_function *f = gt_calls_function(b->r->calls, index);
    const struct function no = {NOT_ASKED, 0};
    if (!spec || !gt_function_pattern_matches(b->pattern, f, gt_reading_name(b->r, index)))
        return no;
    for (size_t i = 0; i < spec->n_arguments + spec->n_returns; i++) {
        bool result = i >= spec->n_arguments;
        size_t at = result ? i - spec->n_arguments : i;
        if (!is_named(&spec->item[i], b->value, at))
            continue;
        b->met = true;
        return (struct function){result ? RESULT : ARGUMENT, (uint8_t)at};
    }
    return no;
}

static struct function function_at(struct by_value *b, uint32_t index)
{
    if (index >= b->functions->len)
        g_array_set_size(b->functions, index + 1);
    struct function *f = &g_array_index(b->functions, struct function, index);
    if (f->asked == NOT_ASKED_YET)
        *f = look(b, index);
    return *f;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* The range of a number: its lower end in *key, for sorting. */
static void show_range(struct gt_text *t, const struct gt_value_item *item, uint64_t word,
                       uint64_t *key)
{
    bool is_signed = item->format == GT_VALUE_SIGNED || item->format == GT_VALUE_AUTO;
    bool negative = is_signed && (int64_t)word < 0;
    uint64_t size = negative ? 0 - word : word, low = size, high = size;
    if (size > 1) {
        low = UINT64_C(1) << (63 - __builtin_clzll(size));
        high = low - 1 + low;
    }
    *key = negative ? INT64_MAX - high : (uint64_t)INT64_MAX + 1 + (low >> 1);
    if (low == high)
        gt_text_printf(t, "%s%" PRIu64, negative ? "-" : "", low);
    else if (negative)
        gt_text_printf(t, "-%" PRIu64 " .. -%" PRIu64, high, low);
    else
        gt_text_printf(t, "%" PRIu64 " .. %" PRIu64, low, high);
}

static uint32_t row_of(struct by_value *b, const struct gt_call *e,
                       const struct gt_value_list *list, uint8_t index)
{
    struct gt_value_item unknown[GT_VALUES_MOST];
    const struct gt_value_item *item = gt_calls_value_items(b->r->calls, e, list, unknown);
    struct gt_text text = {0};
    uint64_t key = 0;
    if (index >= list->n)
        return NONE;
    const struct gt_value *v = &list->value[index];
    const struct gt_value_list one = {1, {*v}};
    if (b->hist && v->kind == GT_VALUE_WORD && item[index].format != GT_VALUE_FLOAT)
        show_range(&text, &item[index], v->word, &key);
    else
        gt_values_show(&text, gt_calls_values(b->r->calls), &item[index], &one, false, NULL, NULL);
    const char *name = text.len ? text.data : "";
    uint32_t row = GPOINTER_TO_UINT(g_hash_table_lookup(b->rows, name));
    if (row == 0) {
        const struct gt_report_row new = {.name = g_string_chunk_insert(b->texts, name),
                                          .total_min = UINT64_MAX,
                                          .self_min = UINT64_MAX,
                                          .key = key};
        g_array_append_val(b->row, new);
        row = b->row->len;
        g_hash_table_insert(b->rows, (gpointer)(uintptr_t) new.name, GUINT_TO_POINTER(row));
    }
    gt_text_free(&text);
    return row - 1;
}

static void count(struct by_value *b, uint32_t row, const struct gt_call *e)
{
    struct gt_report_row *to = &g_array_index(b->row, struct gt_report_row, row);
    uint64_t total = gt_call_ran(e), self = (uint64_t)e->self;
    to->calls++;
    to->open += gt_calls_is_open(b->r->calls, e);
    if (!(e->flags & GT_CALL_RECURSIVE)) {
        to->total += total;
        to->slept += e->slept;
    }
    to->total_sum += total;
    to->self += self;
    to->total_min = MIN(to->total_min, total);
    to->total_max = MAX(to->total_max, total);
    to->self_min = MIN(to->self_min, self);
    to->self_max = MAX(to->self_max, self);
}

/* ---- calls --------------------------------------------------------------------------------- */

static GArray *open_of(struct by_value *b, uint32_t task)
{
    if (task >= b->tasks->len)
        g_ptr_array_set_size(b->tasks, (gint)task + 1);
    if (!b->tasks->pdata[task])
        b->tasks->pdata[task] = g_array_new(FALSE, FALSE, sizeof(struct open_call));
    return b->tasks->pdata[task];
}

static void take_exit(struct by_value *b, const struct gt_call *e, struct function f,
                      const struct gt_value_list *list)
{
    GArray *open = open_of(b, e->task);
    uint32_t row = NONE;
    while (open->len && g_array_index(open, struct open_call, open->len - 1).depth >= e->depth) {
        const struct open_call *top = &g_array_index(open, struct open_call, open->len - 1);
        row = top->depth == e->depth ? top->row : NONE;
        g_array_set_size(open, open->len - 1);
    }
    if (f.asked == RESULT)
        row = list ? row_of(b, e, list, f.index) : NONE;
    if (row != NONE)
        count(b, row, e);
}

static int take(void *self, const struct gt_call *e)
{
    struct by_value *b = self;
    if (e->kind > GT_CALL_EXIT)
        return 0;
    const struct gt_value_list *list = gt_calls_values_at(b->r->calls);
    const struct function f = function_at(b, e->function);
    if (f.asked == NOT_ASKED)
        return 0;
    if (e->kind == GT_CALL_EXIT) {
        take_exit(b, e, f, list);
    } else if (f.asked == ARGUMENT && list) {
        const struct open_call call = {e->depth, row_of(b, e, list, f.index)};
        g_array_append_val(open_of(b, e->task), call);
    }
    return 0;
}

static void free_open(gpointer open)
{
    if (open)
        g_array_free(open, TRUE);
}

/* The rows that have calls, with their averages. */
static void finish_rows(struct by_value *b, struct gt_report_rows *out)
{
    for (guint i = 0; i < b->row->len; i++) {
        struct gt_report_row *row = &g_array_index(b->row, struct gt_report_row, i);
        if (row->calls == 0)
            continue;
        row->total_avg = row->total_sum / row->calls;
        row->self_avg = row->self / row->calls;
        g_array_index(b->row, struct gt_report_row, out->n++) = *row;
    }
    out->row = (struct gt_report_row *)(void *)g_array_free(b->row, FALSE);
    out->texts = b->texts;
}

int gt_report_make_values(struct gt_reading *r, const char *what, bool hist,
                          struct gt_report_rows *out, struct gt_error *err)
{
    const char *colon = strrchr(what, ':');
    struct by_value b = {.r = r, .hist = hist};
    b.pattern = g_strndup(what, (gsize)(colon - what));
    b.value = colon + 1;
    b.functions = g_array_new(FALSE, TRUE, sizeof(struct function));
    b.tasks = g_ptr_array_new_with_free_func(free_open);
    b.rows = g_hash_table_new(g_str_hash, g_str_equal);
    b.row = g_array_new(FALSE, FALSE, sizeof(struct gt_report_row));
    b.texts = g_string_chunk_new(1 << 12);
    int status = gt_calls_walk(r->calls, &r->window.calls, take, &b, err);
    finish_rows(&b, out);
    if (status >= 0 && !b.met)
        status =
            gt_error_set(err, GT_E_NOT_FOUND,
                         "--by %s: no function of that name in the recording has a value '%s'; "
                         "values are recorded with -A, -R or --auto-args",
                         what, b.value);
    g_array_free(b.functions, TRUE);
    g_ptr_array_free(b.tasks, TRUE);
    g_hash_table_destroy(b.rows);
    g_free(b.pattern);
    return status < 0 ? status : 0;
}
