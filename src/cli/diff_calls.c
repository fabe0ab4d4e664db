/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `guesttrace diff` of two recordings of calls: a line for each function whose calls or times
 * differ, with what it gained from the first recording to the second; as `view A B` shows it.
 */
#include "cli/diff_calls.h"

#include "base/json.h"
#include "cli/amount.h"
#include "cli/opened.h"
#include "cli/terminal_text.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 11, MODULE = 24 }; /* of a column */

struct row {
    struct gtrace_change change;
    const char *name; /* as it is shown */
};

/* What rows are sorted by, and columns. */
static const struct key {
    const char *name, *header;
    size_t offset; /* of both sides' values in struct gtrace_change */
    bool is_time;
} keys[] = {
    {"self", "Self", offsetof(struct gtrace_change, self), true},
    {"total", "Total", offsetof(struct gtrace_change, total), true},
    {"calls", "Calls", offsetof(struct gtrace_change, calls), false},
};

static const uint64_t *values_of(const struct key *k, const struct gtrace_change *c)
{
    return (const uint64_t *)(const void *)((const char *)c + k->offset);
}

static int64_t gained(const struct key *k, const struct gtrace_change *c)
{
    const uint64_t *value = values_of(k, c);
    return (int64_t)(value[1] - value[0]);
}

bool gt_cli_diff_calls_is_recording(const char *path)
{
    return gtrace_is_recording(path);
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* Those that gained most or lost most first. */
static gint compare_rows(gconstpointer pa, gconstpointer pb, gpointer by)
{
    const struct row *a = pa, *b = pb;
    const int64_t x = gained(by, &a->change), y = gained(by, &b->change);
    const uint64_t m = x < 0 ? 0 - (uint64_t)x : (uint64_t)x,
                   n = y < 0 ? 0 - (uint64_t)y : (uint64_t)y;
    return m > n ? -1 : m < n ? 1 : strcmp(a->name, b->name);
}

static GArray *rows_of(struct gtrace *const side[2], const void *changes, int64_t n, size_t stride,
                       bool demangle, const struct key *by)
{
    GArray *rows = g_array_new(FALSE, FALSE, sizeof(struct row));
    for (int64_t i = 0; i < n; i++) {
        const void *at = (const char *)changes + (size_t)i * stride;
        struct row row = {.change = *(const struct gtrace_change *)at};
        struct gtrace_function f = {.size = sizeof f};
        gtrace_function(side[row.change.side], row.change.function, &f);
        row.name = demangle ? f.name : f.symbol;
        g_array_append_val(rows, row);
    }
    g_array_sort_with_data(rows, compare_rows, (gpointer)(uintptr_t)by);
    return rows;
}

/* ---- table and JSON ------------------------------------------------------------------------ */

static void put_cell(struct gt_output *out, const char *text)
{
    g_autofree char *cell = g_strdup_printf("  %*s", WIDTH, text);
    gt_output_text(out, cell);
}

static void put_gain(struct gt_output *out, const struct key *k, int64_t gain)
{
    const uint64_t size = gain < 0 ? 0 - (uint64_t)gain : (uint64_t)gain;
    g_autofree char *amount = k->is_time ? gt_cli_amount_time(size) : gt_cli_amount_exact(size);
    g_autofree char *text = g_strdup_printf("%s%s", gain < 0 ? "-" : gain ? "+" : "", amount);
    put_cell(out, text);
}

static void put_value(struct gt_output *out, const struct key *k, uint64_t value)
{
    g_autofree char *amount = k->is_time ? gt_cli_amount_time(value) : gt_cli_amount_exact(value);
    put_cell(out, amount);
}

static void put_table(struct gt_output *out, const GArray *rows, guint n)
{
    for (size_t k = 0; k < G_N_ELEMENTS(keys); k++) {
        put_cell(out, keys[k].header);
        put_cell(out, "change");
    }
    gt_output_text(out, "  Module                    Function\n");
    for (size_t k = 0; k < 2 * G_N_ELEMENTS(keys); k++)
        gt_output_text(out, "  ===========");
    gt_output_text(out, "  ========================  ====================\n");
    for (guint i = 0; i < n; i++) {
        const struct row *row = &g_array_index(rows, struct row, i);
        for (size_t k = 0; k < G_N_ELEMENTS(keys); k++) {
            put_value(out, &keys[k], values_of(&keys[k], &row->change)[1]);
            put_gain(out, &keys[k], gained(&keys[k], &row->change));
        }
        g_autofree char *plain = g_strndup(row->change.file, row->change.n_file);
        g_autofree char *shown = gt_cli_shown(plain);
        g_autofree char *cell = g_strdup_printf("  %-*s  ", MODULE, shown);
        gt_output_text(out, cell);
        gt_cli_shown_put(out, row->name);
        gt_output_text(out, "\n");
    }
}

static void put_json(struct gt_output *out, const GArray *rows, guint n)
{
    static const char *const sides[] = {"a", "b"};
    struct gt_json j;
    gt_json_init(&j, out, GT_JSON_REPLACE);
    for (guint i = 0; i < n; i++) {
        const struct row *row = &g_array_index(rows, struct row, i);
        gt_json_resume(&j);
        gt_json_begin_object(&j);
        gt_json_member_text(&j, "function", row->name);
        gt_json_key(&j, "module");
        gt_json_string(&j, row->change.file, row->change.n_file);
        for (size_t side = 0; side < G_N_ELEMENTS(sides); side++)
            for (size_t k = 0; k < G_N_ELEMENTS(keys); k++) {
                g_autofree char *key = g_strdup_printf("%s_%s%s", sides[side], keys[k].name,
                                                       keys[k].is_time ? "_ns" : "");
                gt_json_member_u64(&j, key, values_of(&keys[k], &row->change)[side]);
            }
        gt_json_end_object(&j);
        gt_json_end_line(&j);
        gt_json_commit(&j);
    }
}

/* ---- all ----------------------------------------------------------------------------------- */

static const struct key *key_of(const char *name, struct gt_error *err)
{
    for (size_t k = 0; k < G_N_ELEMENTS(keys); k++)
        if (strcmp(name, keys[k].name) == 0)
            return &keys[k];
    gt_error_set(err, GT_E_USAGE, "--sort %s: expected self, total or calls", name);
    return NULL;
}

static int print_changes(struct gtrace *const side[2], const struct gt_cli_diff_calls_options *o,
                         const struct key *by, struct gt_output *out, struct gt_error *err)
{
    const struct gtrace_window window = {.size = sizeof window, .wall = o->wall};
    struct gtrace_error e = {.size = sizeof e};
    struct gtrace_change *changes;
    size_t stride;
    int64_t found = gtrace_changes(side, &window, &changes, &stride, &e);
    if (found < 0)
        return gt_cli_opened_fail(err, (int)found, &e);
    g_autoptr(GArray) rows = rows_of(side, changes, found, stride, o->demangle, by);
    const guint n = o->limit && o->limit < rows->len ? (guint)o->limit : rows->len;
    if (out && o->json)
        put_json(out, rows, n);
    else if (out && n)
        put_table(out, rows, n);
    gtrace_free(changes);
    return found > 0;
}

static bool in_instructions(const struct gtrace *t)
{
    struct gtrace_facts facts = {.size = sizeof facts};
    gtrace_facts(t, &facts);
    return facts.clock == GTRACE_CLOCK_INSTRUCTIONS;
}

int gt_cli_diff_calls(char *const path[2], const struct gt_cli_diff_calls_options *o,
                      const struct gt_error_notices *notices, struct gt_output *out,
                      struct gt_error *err)
{
    const struct key *by = key_of(o->sort ? o->sort : "self", err);
    struct gtrace *side[2] = {NULL, NULL};
    int status = by ? 0 : GT_E_USAGE;
    for (int k = 0; k < 2 && status == 0; k++)
        status = gt_cli_opened_open(path[k], notices, &side[k], err);
    if (status == 0) {
        const bool second = in_instructions(side[1]);
        if (in_instructions(side[0]) != second)
            gt_error_notice(
                notices,
                "times of %s are instructions, times of %s are not: compare calls only, or "
                "record both with --clock insn",
                path[second], path[!second]);
        status = print_changes(side, o, by, out, err);
    }
    gtrace_close(side[0]);
    gtrace_close(side[1]);
    return status;
}
