/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `guesttrace report --by FUNC:VALUE`: the calls of the functions by a value, as their rows: a row
 * a value, or with --hist a row a range of values, from a power of two to the next.
 */
#include "cli/report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct by_value {
    const char *value; /* "arg1", "fparg1", "retval", or a parameter's name */
    bool hist, met;    /* met: some function has such a value */
    GHashTable *rows;  /* text to row + 1 */
    GArray *row;       /* struct gt_cli_report_row */
    GStringChunk *texts;
};

/* ---- which value --------------------------------------------------------------------------- */

static bool is_named(const struct gtrace_value *v, const char *value)
{
    char number[24];
    if (strcmp(v->name, value) == 0)
        return true;
    snprintf(number, sizeof number, "%s%u", v->place & GTRACE_FLOAT ? "fparg" : "arg",
             v->place & ~(uint32_t)GTRACE_FLOAT);
    return v->place && strcmp(number, value) == 0;
}

static const struct gtrace_value *find(const struct by_value *b, const struct gtrace_call *call)
{
    for (uint32_t i = 0; i < call->n_arguments; i++)
        if (is_named(&call->arguments[i], b->value))
            return &call->arguments[i];
    const bool result = call->result && (strcmp(b->value, "retval") == 0 ||
                                         strcmp(call->result->name, b->value) == 0);
    return result ? call->result : NULL;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* The range of a number: its lower end in *key, for sorting. The caller frees it. */
static char *range_of(const struct gtrace_value *v, uint64_t *key)
{
    const bool negative = v->kind == GTRACE_INTEGER && (int64_t)v->number < 0;
    uint64_t size = negative ? 0 - v->number : v->number, low = size, high = size;
    if (size > 1) {
        low = UINT64_C(1) << (63 - __builtin_clzll(size));
        high = low - 1 + low;
    }
    *key = negative ? INT64_MAX - high : (uint64_t)INT64_MAX + 1 + (low >> 1);
    if (low == high)
        return g_strdup_printf("%s%" PRIu64, negative ? "-" : "", low);
    return negative ? g_strdup_printf("-%" PRIu64 " .. -%" PRIu64, high, low)
                    : g_strdup_printf("%" PRIu64 " .. %" PRIu64, low, high);
}

static struct gt_cli_report_row *row_of(struct by_value *b, const struct gtrace_value *v)
{
    uint64_t key = 0;
    const bool is_number = v->kind == GTRACE_INTEGER || v->kind == GTRACE_UNSIGNED;
    g_autofree char *name = b->hist && is_number     ? range_of(v, &key)
                            : v->kind == GTRACE_TEXT ? g_strdup_printf("\"%s\"", v->text)
                                                     : g_strdup(v->text);
    guint row = GPOINTER_TO_UINT(g_hash_table_lookup(b->rows, name));
    if (row == 0) {
        const struct gt_cli_report_row new = {.name = g_string_chunk_insert(b->texts, name),
                                              .total_min = UINT64_MAX,
                                              .self_min = UINT64_MAX,
                                              .key = key};
        g_array_append_val(b->row, new);
        row = b->row->len;
        g_hash_table_insert(b->rows, (gpointer)(uintptr_t) new.name, GUINT_TO_POINTER(row));
    }
    return &g_array_index(b->row, struct gt_cli_report_row, row - 1);
}

static void count(struct gt_cli_report_row *to, const struct gtrace_call *call)
{
    const uint64_t total = call->end - call->begin - call->slept, self = (uint64_t)call->self;
    to->calls++;
    to->open += call->flags & GTRACE_OPEN ? 1 : 0;
    if (!(call->flags & GTRACE_RECURSIVE)) {
        to->total += total;
        to->slept += call->slept;
    }
    to->total_sum += total;
    to->self += self;
    to->total_min = MIN(to->total_min, total);
    to->total_max = MAX(to->total_max, total);
    to->self_min = MIN(to->self_min, self);
    to->self_max = MAX(to->self_max, self);
}

static int take(void *user, const struct gtrace_call *calls, size_t n, size_t stride)
{
    struct by_value *b = user;
    for (size_t i = 0; i < n; i++) {
        const struct gtrace_call *call = (const void *)((const char *)calls + i * stride);
        const struct gtrace_value *v = find(b, call);
        if (v) {
            b->met = true;
            count(row_of(b, v), call);
        }
    }
    return 0;
}

/* Their averages. */
static void finish_rows(struct by_value *b, struct gt_cli_report_rows *out)
{
    out->n = b->row->len;
    out->row = (struct gt_cli_report_row *)(void *)g_array_free(b->row, FALSE);
    out->texts = b->texts;
    for (size_t i = 0; i < out->n; i++) {
        out->row[i].total_avg = out->row[i].total_sum / out->row[i].calls;
        out->row[i].self_avg = out->row[i].self / out->row[i].calls;
    }
}

int gt_cli_report_make_values(struct gt_cli_reading *r, const char *what, bool hist,
                              struct gt_cli_report_rows *out, struct gt_error *err)
{
    const char *colon = strrchr(what, ':');
    g_autofree char *pattern = g_strndup(what, (gsize)(colon - what));
    const char *const functions[] = {pattern, NULL};
    struct by_value b = {.value = colon + 1, .hist = hist};
    struct gtrace_window w = r->window.part;
    struct gtrace_error e = {.size = sizeof e};
    w.functions = functions;
    w.want = GTRACE_WANT_VALUES;
    b.rows = g_hash_table_new(g_str_hash, g_str_equal);
    b.row = g_array_new(FALSE, FALSE, sizeof(struct gt_cli_report_row));
    b.texts = g_string_chunk_new(1 << 12);
    const int status = gtrace_calls(r->trace, &w, take, &b, &e);
    finish_rows(&b, out);
    g_hash_table_destroy(b.rows);
    if (status < 0)
        return gt_cli_opened_fail(err, status, &e);
    return b.met ? 0
                 : gt_error_set(err, GT_E_NOT_FOUND,
                                "--by %s: no function of that name in the recording has a value "
                                "'%s'; values are recorded with -A, -R or --auto-args",
                                what, b.value);
}
