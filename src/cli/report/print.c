/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report as a table, as CSV (RFC 4180) and as JSON. See report.h. */
#include "base/json.h"
#include "cli/amount.h"
#include "cli/report/report.h"
#include "cli/terminal_text.h"

#include <string.h>

enum { WIDTH = 10, MODULE_WIDTH = 24 }; /* of a number; of the longest module in its column */
enum { COLUMNS_MAX = 16 };

static const char *row_word(enum gt_cli_report_by by)
{
    return by == GT_BY_FUNCTION ? "Function"
           : by == GT_BY_TASK   ? "Task"
           : by == GT_BY_VALUE  ? "Value"
           : by == GT_BY_MODULE ? "Module"
                                : "Initcall";
}

/* ---- table --------------------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static void put_padded(struct gt_output *out, const char *name, size_t width)
{
    g_autofree char *text = gt_cli_shown(name);
    gt_output_text(out, text);
    for (size_t n = (size_t)g_utf8_strlen(text, -1); n < width; n++)
        gt_output_text(out, " ");
}

/* Times are coloured by their unit. */
static void put_time(struct gt_cli_pager *p, uint64_t ns)
{
    enum gt_cli_color color = gt_cli_color_of_time(ns);
    bool on = p->color && color != GT_COLOR_NONE;
    gt_output_text(&p->out, gt_cli_color(on, color));
    char *at = gt_output_room(&p->out, GT_AMOUNT_TIME_WIDTH);
    gt_output_end(&p->out, gt_cli_amount_put_time(at, ns));
    gt_output_text(&p->out, gt_cli_color(on, GT_COLOR_NONE));
}

static void put_cell(struct gt_cli_pager *p, const struct gt_cli_report_column *c, uint64_t value)
{
    gt_output_text(&p->out, "  ");
    if (c->kind == GT_REPORT_TIME) {
        put_time(p, value);
        return;
    }
    g_autofree char *number = c->kind == GT_REPORT_COUNT
                                  ? gt_cli_amount_exact(value)
                                  : g_strdup_printf("%" G_GUINT64_FORMAT, value);
    g_autofree char *cell = g_strdup_printf("%*s", WIDTH, number);
    gt_output_text(&p->out, cell);
}

/* The table has the column. */
static bool has_column(const struct gt_cli_report_column *c, enum gt_cli_report_by by,
                       const struct gt_cli_report_rows *rows)
{
    if (!(c->by & by) || !c->header)
        return false;
    for (size_t i = 0; c->if_any && i < rows->n; i++)
        if (gt_cli_report_value(c, &rows->row[i]))
            return true;
    return !c->if_any;
}

/* Of the results of initcalls; 0: there are none. */
static size_t result_width(const struct gt_cli_report_rows *rows)
{
    size_t width = 0;
    for (size_t i = 0; i < rows->n; i++)
        if (rows->row[i].result)
            width = MAX(width, MAX(strlen("Result"), strlen(rows->row[i].result)));
    return MIN(width, MODULE_WIDTH);
}

static size_t module_width(const struct gt_cli_report_rows *rows)
{
    size_t width = strlen("Module");
    for (size_t i = 0; i < rows->n; i++) {
        size_t n = strlen(base_name(rows->row[i].module));
        width = n > width ? n : width;
    }
    return width < MODULE_WIDTH ? width : MODULE_WIDTH;
}

/* The texts of a row before its name. */
struct widths {
    size_t result, module; /* 0: it has none */
};

static void put_line(struct gt_output *out, size_t width)
{
    g_autofree char *line = g_strnfill(width, '=');
    gt_output_text(out, line);
    gt_output_text(out, "  ");
}

static void put_heading(struct gt_output *out, const struct gt_cli_report_column *const *column,
                        enum gt_cli_report_by by, struct widths width)
{
    for (size_t i = 0; column[i]; i++) {
        g_autofree char *cell = g_strdup_printf("  %*s", WIDTH, column[i]->header);
        gt_output_text(out, cell);
    }
    gt_output_text(out, "  ");
    if (width.result) {
        put_padded(out, "Result", width.result);
        gt_output_text(out, "  ");
    }
    if (width.module) {
        put_padded(out, "Module", width.module);
        gt_output_text(out, "  ");
    }
    gt_output_text(out, row_word(by));
    gt_output_text(out, "\n");
    for (size_t i = 0; column[i]; i++)
        gt_output_text(out, "  ==========");
    gt_output_text(out, "  ");
    if (width.result)
        put_line(out, width.result);
    if (width.module)
        put_line(out, width.module);
    gt_output_text(out, "====================\n");
}

void gt_cli_report_table(const struct gt_cli_report_rows *rows, enum gt_cli_report_by by,
                         struct gt_cli_pager *p)
{
    const struct gt_cli_report_column *column[COLUMNS_MAX + 1] = {0};
    const struct widths width = {result_width(rows), by & GT_BY_CODE ? module_width(rows) : 0};
    size_t n = 0;
    for (const struct gt_cli_report_column *c = gt_cli_report_columns; c->key && n < COLUMNS_MAX;
         c++)
        if (has_column(c, by, rows))
            column[n++] = c;
    put_heading(&p->out, column, by, width);
    for (size_t i = 0; i < rows->n && !gt_cli_pager_closed(p); i++) {
        const struct gt_cli_report_row *row = &rows->row[i];
        for (size_t k = 0; column[k]; k++)
            put_cell(p, column[k], gt_cli_report_value(column[k], row));
        gt_output_text(&p->out, "  ");
        if (width.result) {
            put_padded(&p->out, row->result ? row->result : "", width.result);
            gt_output_text(&p->out, "  ");
        }
        if (width.module) {
            put_padded(&p->out, base_name(row->module), width.module);
            gt_output_text(&p->out, "  ");
        }
        put_padded(&p->out, row->name, 0);
        gt_output_text(&p->out, "\n");
    }
}

/* ---- CSV ----------------------------------------------------------------------------------- */

/* "total_min_ns". The caller frees it. */
static char *field_name(const struct gt_cli_report_column *c)
{
    char *name = g_strconcat(c->key, c->kind == GT_REPORT_TIME ? "_ns" : "", NULL);
    return g_strdelimit(name, "-", '_');
}

/* In quotes where it has to be. */
static void put_csv(struct gt_output *out, const char *value)
{
    g_autofree char *shown = gt_cli_shown(value);
    const char *text = shown;
    if (!strpbrk(text, ",\"\r\n")) {
        gt_output_text(out, text);
        return;
    }
    gt_output_text(out, "\"");
    for (const char *quote; (quote = strchr(text, '"')); text = quote + 1) {
        gt_output_bytes(out, text, (size_t)(quote - text));
        gt_output_text(out, "\"\"");
    }
    gt_output_text(out, text);
    gt_output_text(out, "\"");
}

static void put_csv_row(struct gt_output *out, const struct gt_cli_report_row *row,
                        enum gt_cli_report_by by)
{
    for (const struct gt_cli_report_column *c = gt_cli_report_columns; c->key; c++)
        if (c->by & by) {
            gt_output_decimal(out, gt_cli_report_value(c, row));
            gt_output_text(out, ",");
        }
    if (by & GT_BY_CODE) {
        put_csv(out, row->module);
        gt_output_text(out, ",");
        put_csv(out, row->file ? row->file : "");
        gt_output_text(out, ",");
        if (row->file)
            gt_output_decimal(out, row->line);
        gt_output_text(out, ",");
    }
    if (by == GT_BY_INITCALL) {
        put_csv(out, row->result ? row->result : "");
        gt_output_text(out, ",");
    }
    put_csv(out, row->name);
    gt_output_text(out, "\r\n");
}

void gt_cli_report_csv(const struct gt_cli_report_rows *rows, enum gt_cli_report_by by,
                       struct gt_output *out)
{
    g_autofree char *word = g_ascii_strdown(row_word(by), -1);
    for (const struct gt_cli_report_column *c = gt_cli_report_columns; c->key; c++)
        if (c->by & by) {
            g_autofree char *name = field_name(c);
            gt_output_text(out, name);
            gt_output_text(out, ",");
        }
    gt_output_text(out, by & GT_BY_CODE ? "module,file,line," : "");
    gt_output_text(out, by == GT_BY_INITCALL ? "result," : "");
    gt_output_text(out, word);
    gt_output_text(out, "\r\n");
    for (size_t i = 0; i < rows->n; i++)
        put_csv_row(out, &rows->row[i], by);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void put_json_row(struct gt_json *j, const struct gt_cli_report_row *row,
                         enum gt_cli_report_by by, const char *word)
{
    gt_json_newline(j);
    gt_json_begin_object(j);
    gt_json_key(j, word);
    gt_json_text(j, row->name);
    if (by & GT_BY_CODE) {
        gt_json_key(j, "module");
        gt_json_text(j, row->module);
    }
    if (row->result) {
        gt_json_key(j, "result");
        gt_json_text(j, row->result);
    }
    if (row->file) {
        gt_json_key(j, "file");
        gt_json_text(j, row->file);
        gt_json_key(j, "line");
        gt_json_u64(j, row->line);
    }
    for (const struct gt_cli_report_column *c = gt_cli_report_columns; c->key; c++)
        if (c->by & by) {
            g_autofree char *name = field_name(c);
            gt_json_key(j, name);
            gt_json_u64(j, gt_cli_report_value(c, row));
        }
    gt_json_end_object(j);
}

void gt_cli_report_json(const struct gt_cli_report_rows *rows, enum gt_cli_report_by by,
                        struct gt_output *out)
{
    g_autofree char *word = g_ascii_strdown(row_word(by), -1);
    struct gt_json j;
    gt_json_init(&j, out, GT_JSON_REPLACE);
    gt_json_resume(&j);
    gt_json_begin_object(&j);
    gt_json_key(&j, "by");
    gt_json_name(&j, word);
    gt_json_key(&j, "rows");
    gt_json_begin_array(&j);
    for (size_t i = 0; i < rows->n; i++)
        put_json_row(&j, &rows->row[i], by, word);
    gt_json_newline(&j);
    gt_json_end_array(&j);
    gt_json_end_object(&j);
    gt_json_end_line(&j);
    gt_json_commit(&j);
}
