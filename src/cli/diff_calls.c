/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `guesttrace diff` of two recordings of calls: a line for each function whose calls or times
 * differ, with what it gained from the first recording to the second; as `view A B` shows it.
 */
#include "cli/diff_calls.h"

#include "base/json.h"
#include "calls/export/frames.h"
#include "calls/profile/changes.h"
#include "cli/amount.h"
#include "cli/reading.h"
#include "names/image/demangle.h"
#include "recording/file_kind.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 11, MODULE = 24 }; /* of a column */

struct row {
    struct gt_change change;
    const struct gt_calls_function *function;
    const char *name; /* as it is shown */
};

/* What rows are sorted by, and columns. */
static const struct key {
    const char *name, *header;
    size_t offset; /* of both sides' values in struct gt_change */
    bool is_time;
} keys[] = {
    {"self", "Self", offsetof(struct gt_change, self), true},
    {"total", "Total", offsetof(struct gt_change, total), true},
    {"calls", "Calls", offsetof(struct gt_change, calls), false},
};

static const uint64_t *values_of(const struct key *k, const struct gt_change *c)
{
    return (const uint64_t *)(const void *)((const char *)c + k->offset);
}

static int64_t gained(const struct key *k, const struct gt_change *c)
{
    const uint64_t *value = values_of(k, c);
    return (int64_t)(value[1] - value[0]);
}

bool gt_diff_calls_is_recording(const char *path)
{
    const enum gt_file_kind kind = gt_file_kind_at(path);
    return kind == GT_FILE_CALLS || kind == GT_FILE_DIRECTORY;
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

/* Both passes come first: they meet the functions that are matched. */
static int read_changes(struct gt_calls *const side[2], const struct gt_diff_calls_options *o,
                        struct gt_function_match *m, struct gt_change **of, struct gt_error *err)
{
    const struct gt_calls_window window = {.wall = o->wall};
    struct gt_function_table f[2] = {0};
    int status = 0;
    for (int k = 0; k < 2 && status == 0; k++)
        status = gt_function_table_make(side[k], &window, 0, &f[k], err);
    if (status == 0) {
        gt_function_match_make(m, side);
        *of = g_new0(struct gt_change, m->names->len + 1);
        for (int k = 0; k < 2; k++)
            gt_changes_add(*of, m, k, &f[k]);
    }
    for (int k = 0; k < 2; k++)
        gt_function_table_clear(&f[k]);
    return status;
}

static GArray *rows_of(const struct gt_function_match *m, const struct gt_change *of,
                       struct gt_demangler *d, const struct key *by)
{
    GArray *rows = g_array_new(FALSE, FALSE, sizeof(struct row));
    for (guint i = 0; i < m->names->len; i++) {
        const struct gt_calls_function *f =
            g_array_index(m->names, const struct gt_calls_function *, i);
        const struct row row = {of[i], f, gt_demangle(d, f->name)};
        if (gt_change_is_one(&of[i]))
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
    g_autofree char *amount = k->is_time ? gt_amount_time(size) : gt_amount_exact(size);
    g_autofree char *text = g_strdup_printf("%s%s", gain < 0 ? "-" : gain ? "+" : "", amount);
    put_cell(out, text);
}

static void put_value(struct gt_output *out, const struct key *k, uint64_t value)
{
    g_autofree char *amount = k->is_time ? gt_amount_time(value) : gt_amount_exact(value);
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
        size_t length;
        const char *file = gt_function_match_file(row->function, &length);
        g_autofree char *plain = g_strndup(file, length);
        g_autofree char *shown = gt_reading_shown(plain);
        g_autofree char *cell = g_strdup_printf("  %-*s  ", MODULE, shown);
        gt_output_text(out, cell);
        gt_reading_put_name(out, row->name);
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
        size_t length;
        const char *file = gt_function_match_file(row->function, &length);
        gt_json_resume(&j);
        gt_json_begin_object(&j);
        gt_json_member_text(&j, "function", row->name);
        gt_json_key(&j, "module");
        gt_json_string(&j, file, length);
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

static int print_changes(struct gt_calls *const side[2], const struct gt_diff_calls_options *o,
                         const struct key *by, struct gt_output *out, struct gt_error *err)
{
    struct gt_function_match match = {0};
    g_autofree struct gt_change *of = NULL;
    int status = read_changes(side, o, &match, &of, err);
    if (status == 0) {
        struct gt_demangler *d = o->demangle ? gt_demangler_create() : NULL;
        g_autoptr(GArray) rows = rows_of(&match, of, d, by);
        const guint n = o->limit && o->limit < rows->len ? (guint)o->limit : rows->len;
        if (out && o->json)
            put_json(out, rows, n);
        else if (out && n)
            put_table(out, rows, n);
        gt_demangler_destroy(d);
        status = rows->len > 0;
    }
    gt_function_match_clear(&match);
    return status;
}

int gt_diff_calls(char *const path[2], const struct gt_diff_calls_options *o,
                  const struct gt_notices *notices, struct gt_output *out, struct gt_error *err)
{
    const struct key *by = key_of(o->sort ? o->sort : "self", err);
    const struct gt_calls_options how = {.notices = *notices};
    struct gt_calls *side[2] = {NULL, NULL};
    int status = by ? 0 : GT_E_USAGE;
    for (int k = 0; k < 2 && status == 0; k++)
        status = gt_calls_open(path[k], &how, &side[k], err);
    if (status == 0 && gt_frames_in_instructions(side[0]) != gt_frames_in_instructions(side[1]))
        gt_notice(notices,
                  "times of %s are instructions, those of %s are not: compare calls only, or "
                  "record both with --clock insn",
                  path[gt_frames_in_instructions(side[1])],
                  path[!gt_frames_in_instructions(side[1])]);
    if (status == 0)
        status = print_changes(side, o, by, out, err);
    gt_calls_close(side[0]);
    gt_calls_close(side[1]);
    return status;
}
