/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Statistics of a trace: for each event and each process the number of records, their rate, and the
 * time from one record to the next (the gaps). Rates are per second of the whole trace.
 */
#include "base/json.h"
#include "events/simpletrace/simpletrace.h"

#include <glib.h>

struct row {
    const char *event; /* NULL: of a process */
    uint32_t pid;
    uint64_t count, first, last;
    int64_t shortest, longest; /* gaps, ns; times may go back between threads */
};

struct stats {
    struct gt_output *out;
    struct row *events; /* by index */
    size_t n_events;
    GHashTable *pids; /* struct row * */
    struct row *pid;  /* of the record before */
    uint64_t records, dropped, first, last;
    bool as_json;
};

static struct stats *begin_any(struct gt_output *out, const struct gt_trace_declarations *d)
{
    struct stats *s = g_new0(struct stats, 1);
    s->out = out;
    s->n_events = gt_trace_declarations_count(d) + 1;
    s->events = g_new0(struct row, s->n_events);
    s->pids = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
    return s;
}

static void *begin(struct gt_output *out, const struct gt_trace_declarations *d)
{
    return begin_any(out, d);
}

static void *begin_json(struct gt_output *out, const struct gt_trace_declarations *d)
{
    struct stats *s = begin_any(out, d);
    s->as_json = true;
    return s;
}

static void count(struct row *row, uint64_t timestamp)
{
    int64_t gap = (int64_t)(timestamp - row->last);
    if (row->count == 0)
        row->first = timestamp;
    if (row->count == 1 || (row->count && gap < row->shortest))
        row->shortest = gap;
    if (row->count == 1 || (row->count && gap > row->longest))
        row->longest = gap;
    row->last = timestamp;
    row->count++;
}

static void record(void *self, const struct gt_trace_record *r, uint64_t before)
{
    struct stats *s = self;
    (void)before;
    if (!s->pid || s->pid->pid != r->pid) {
        s->pid = g_hash_table_lookup(s->pids, GUINT_TO_POINTER(r->pid));
        if (!s->pid) {
            s->pid = g_new0(struct row, 1);
            s->pid->pid = r->pid;
            g_hash_table_insert(s->pids, GUINT_TO_POINTER(r->pid), s->pid);
        }
    }
    struct row *event = &s->events[r->event->index];
    event->event = r->event->name;
    count(event, r->timestamp);
    count(s->pid, r->timestamp);
    if (r->event->line == 0)
        s->dropped += r->values[0].number;
    if (s->records == 0 || r->timestamp < s->first)
        s->first = r->timestamp;
    if (s->records == 0 || r->timestamp > s->last)
        s->last = r->timestamp;
    s->records++;
}

/* The most frequent first. */
static int compare(const void *a, const void *b)
{
    const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    if (x->event && y->event)
        return strcmp(x->event, y->event);
    return (x->pid > y->pid) - (x->pid < y->pid);
}

static GPtrArray *event_rows(const struct stats *s)
{
    GPtrArray *rows = g_ptr_array_new();
    for (size_t i = 0; i < s->n_events; i++)
        if (s->events[i].count)
            g_ptr_array_add(rows, &s->events[i]);
    g_ptr_array_sort(rows, compare);
    return rows;
}

static GPtrArray *pid_rows(const struct stats *s)
{
    GHashTableIter it;
    void *row;
    GPtrArray *rows = g_ptr_array_new();
    g_hash_table_iter_init(&it, s->pids);
    while (g_hash_table_iter_next(&it, NULL, &row))
        g_ptr_array_add(rows, row);
    g_ptr_array_sort(rows, compare);
    return rows;
}

static double seconds(const struct stats *s)
{
    return (double)(s->last - s->first) / 1e9;
}

static double rate(const struct stats *s, uint64_t n)
{
    return seconds(s) > 0 ? (double)n / seconds(s) : 0;
}

static double mean_gap(const struct row *r)
{
    return (double)(int64_t)(r->last - r->first) / (double)(r->count - 1);
}

static void show_rows(const struct stats *s, GString *text, const char *what, GPtrArray *rows)
{
    size_t width = strlen(what);
    for (guint i = 0; i < rows->len; i++) {
        const struct row *r = rows->pdata[i];
        width = MAX(width, r->event ? strlen(r->event) : 10);
    }
    g_string_append_printf(text, "\n%-*s %12s %7s %14s %14s %14s %14s\n", (int)width, what,
                           "records", "share", "per second", "gap min us", "mean us", "max us");
    for (guint i = 0; i < rows->len; i++) {
        const struct row *r = rows->pdata[i];
        g_autofree char *name =
            r->event ? g_strdup(r->event) : g_strdup_printf("%" G_GUINT32_FORMAT, r->pid);
        g_string_append_printf(text, "%-*s %12" G_GUINT64_FORMAT " %6.2f%% %14.1f", (int)width,
                               name, r->count, 100.0 * (double)r->count / (double)s->records,
                               rate(s, r->count));
        if (r->count > 1)
            g_string_append_printf(text, " %14.3f %14.3f %14.3f", (double)r->shortest / 1e3,
                                   mean_gap(r) / 1e3, (double)r->longest / 1e3);
        g_string_append_c(text, '\n');
    }
    g_ptr_array_free(rows, TRUE);
}

static void show(const struct stats *s)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_append_printf(text,
                           "%" G_GUINT64_FORMAT
                           " records in %.6f s, %.1f per second; %" G_GUINT64_FORMAT
                           " more were dropped\n",
                           s->records, seconds(s), rate(s, s->records), s->dropped);
    show_rows(s, text, "EVENT", event_rows(s));
    show_rows(s, text, "PID", pid_rows(s));
    gt_output_bytes(s->out, text->str, text->len);
}

static void json_number(struct gt_json *j, const char *name, uint64_t v)
{
    gt_json_key(j, name);
    gt_json_u64(j, v);
}

static void json_decimals(struct gt_json *j, const char *name, double v)
{
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    gt_json_key(j, name);
    gt_json_number(j, g_ascii_formatd(number, sizeof number, "%.3f", v));
}

static void json_row(const struct stats *s, struct gt_json *j, const struct row *r)
{
    gt_json_begin_object(j);
    if (r->event) {
        gt_json_key(j, "event");
        gt_json_text(j, r->event);
    } else {
        json_number(j, "pid", r->pid);
    }
    json_number(j, "records", r->count);
    json_decimals(j, "rate", rate(s, r->count));
    if (r->count > 1) {
        gt_json_key(j, "gap_min");
        gt_json_i64(j, r->shortest);
        json_decimals(j, "gap_mean", mean_gap(r));
        gt_json_key(j, "gap_max");
        gt_json_i64(j, r->longest);
    }
    gt_json_end_object(j);
}

static void json_rows(const struct stats *s, struct gt_json *j, const char *name, GPtrArray *rows)
{
    gt_json_key(j, name);
    gt_json_begin_array(j);
    for (guint i = 0; i < rows->len; i++)
        json_row(s, j, rows->pdata[i]);
    gt_json_end_array(j);
    g_ptr_array_free(rows, TRUE);
}

/* Gaps are in nanoseconds, rates per second. */
static void show_json(const struct stats *s)
{
    struct gt_json j;
    gt_json_init(&j, s->out, GT_JSON_ESCAPE);
    gt_json_resume(&j);
    gt_json_begin_object(&j);
    json_number(&j, "records", s->records);
    json_number(&j, "dropped", s->dropped);
    json_number(&j, "first", s->first);
    json_number(&j, "last", s->last);
    json_decimals(&j, "rate", rate(s, s->records));
    json_rows(s, &j, "events", event_rows(s));
    json_rows(s, &j, "pids", pid_rows(s));
    gt_json_end_object(&j);
    gt_json_end_line(&j);
    gt_json_commit(&j);
}

static void end(void *self)
{
    struct stats *s = self;
    if (s->as_json)
        show_json(s);
    else
        show(s);
    g_hash_table_destroy(s->pids);
    g_free(s->events);
    g_free(s);
}

const struct gt_simpletrace_form gt_simpletrace_stats = {
    .begin = begin,
    .record = record,
    .end = end,
};

const struct gt_simpletrace_form gt_simpletrace_stats_json = {
    .begin = begin_json,
    .record = record,
    .end = end,
};
