/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `guesttrace report` prints: rows of one kind (functions, tasks, modules, values, initcalls),
 * columns, formats. A column is a row of gt_cli_report_columns: its key names it for --sort, in CSV
 * and in JSON.
 */
#ifndef GT_CLI_REPORT_REPORT_H
#define GT_CLI_REPORT_REPORT_H

#include "cli/reading.h"

/* Bits. */
enum gt_cli_report_by {
    GT_BY_FUNCTION = 1,
    GT_BY_TASK = 2,
    GT_BY_MODULE = 4,
    GT_BY_VALUE = 8,
    GT_BY_INITCALL = 16,
    GT_BY_CODE =
        GT_BY_FUNCTION | GT_BY_INITCALL, /* rows with a module, and a place in the source */
};

struct gt_cli_report_row {
    const char *name; /* of the function, as it is shown; of the task; path of the module; value */
    const char *module; /* GT_BY_CODE: path */
    const char *file;   /* GT_BY_CODE: source file; NULL: not known */
    uint64_t calls;
    uint64_t total, total_avg, total_min, total_max; /* ns */
    uint64_t self, self_avg, self_min, self_max, slept, open;
    uint64_t functions, tid, pid, line;
    uint64_t total_sum;   /* GT_BY_VALUE: with recursive calls */
    uint64_t key;         /* GT_BY_VALUE: what ranges are sorted by; 0: the columns */
    uint64_t wall, begin; /* GT_BY_INITCALL: ns; since the first record */
    const char *result;   /* GT_BY_INITCALL: NULL: none was recorded */
};

struct gt_cli_report_rows {
    struct gt_cli_report_row *row;
    size_t n;
    GStringChunk *texts; /* of names; NULL: they are the recording's */
};

enum gt_cli_report_kind {
    GT_REPORT_TIME,   /* ns */
    GT_REPORT_COUNT,  /* a number, with commas */
    GT_REPORT_NUMBER, /* a number that is a name */
};

struct gt_cli_report_column {
    const char *key;    /* "total-min"; in CSV and JSON "total_min_ns" */
    const char *alias;  /* another name for --sort, or NULL */
    const char *header; /* in the table; NULL: not there */
    uint8_t kind;       /* enum gt_cli_report_kind */
    uint8_t by;         /* kinds of rows that have it */
    size_t offset;      /* of the uint64_t in the row */
    bool if_any;        /* the table has it only if a row has a value other than 0 */
    bool up;            /* sorted from the smallest on */
};

extern const struct gt_cli_report_column gt_cli_report_columns[]; /* until a NULL key */

static inline uint64_t gt_cli_report_value(const struct gt_cli_report_column *c,
                                           const struct gt_cli_report_row *row)
{
    return *(const uint64_t *)(const void *)((const char *)row + c->offset);
}

/* Reads the calls. The caller frees out->row (g_free). Errors of gt_calls_scan. */
int gt_cli_report_make(struct gt_cli_reading *r, enum gt_cli_report_by by,
                       struct gt_cli_report_rows *out, struct gt_error *err);

/* values.c: by "FUNC:VALUE"; `hist`: by ranges of the value. The same; GT_E_NOT_FOUND: no function
 * has such a value. */
int gt_cli_report_make_values(struct gt_cli_reading *r, const char *what, bool hist,
                              struct gt_cli_report_rows *out, struct gt_error *err);

/* initcalls.c. The same; GT_E_NOT_FOUND: the recording has no initcalls of Linux. */
int gt_cli_report_make_initcalls(struct gt_cli_reading *r, struct gt_cli_report_rows *out,
                                 struct gt_error *err);

/* Sorts by the columns that `keys` lists, or "name", "module": numbers from the largest on, texts
 * from A on; then by name. GT_E_USAGE: no such column. */
int gt_cli_report_sort(const struct gt_cli_report_rows *rows, enum gt_cli_report_by by,
                       const char *keys, struct gt_error *err);

void gt_cli_report_table(const struct gt_cli_report_rows *rows, enum gt_cli_report_by by,
                         struct gt_cli_pager *p);
void gt_cli_report_csv(const struct gt_cli_report_rows *rows, enum gt_cli_report_by by,
                       struct gt_output *out);
void gt_cli_report_json(const struct gt_cli_report_rows *rows, enum gt_cli_report_by by,
                        struct gt_output *out);

#endif
