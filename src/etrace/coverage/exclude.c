/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines that a report leaves out: see exclude.h. */
#include "etrace/coverage/exclude.h"

#include "base/file.h"
#include "base/number.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX (64 << 20)

static bool parse_lines(const char *text, struct gt_coverage_excluded *e)
{
    const char *dash = strchr(text, '-');
    g_autofree char *first = dash ? g_strndup(text, (gsize)(dash - text)) : g_strdup(text);
    if (gt_text_number_parse(first, &e->first) < 0 ||
        gt_text_number_parse(dash ? dash + 1 : text, &e->last) < 0)
        return false;
    return e->first >= 1 && e->first <= e->last;
}

static int add_line(struct gt_coverage_exclude *x, char *text, const char *path, size_t number,
                    struct gt_error *err)
{
    struct gt_coverage_excluded e = {.first = 0, .last = UINT64_MAX};
    g_strstrip(text);
    if (!*text || *text == '#')
        return GT_OK;
    char *colon = strrchr(text, ':');
    if (colon && (colon == text || !parse_lines(colon + 1, &e)))
        return gt_error_set(err, GT_E_FORMAT,
                            "%s:%zu: \"%s\": expected FILE, FILE:LINE or FILE:FIRST-LAST", path,
                            number, text);
    e.file = colon ? g_strndup(text, (gsize)(colon - text)) : g_strdup(text);
    g_array_append_val(x->list, e);
    return GT_OK;
}

static void clear_one(void *item)
{
    g_free(((struct gt_coverage_excluded *)item)->file);
}

int gt_coverage_exclude_read(const char *path, struct gt_coverage_exclude *x, struct gt_error *err)
{
    char *data;
    size_t size;
    int status = gt_file_read(path, FILE_MAX, &data, &size, err);
    if (status < 0)
        return status;
    if (!x->list) {
        x->list = g_array_new(FALSE, FALSE, sizeof(struct gt_coverage_excluded));
        g_array_set_clear_func(x->list, clear_one);
    }
    g_auto(GStrv) lines = g_strsplit(data, "\n", -1);
    free(data);
    for (size_t i = 0; lines[i] && status == 0; i++)
        status = add_line(x, lines[i], path, i + 1, err);
    return status;
}

void gt_coverage_exclude_clear(struct gt_coverage_exclude *x)
{
    if (x->list)
        g_array_unref(x->list);
    x->list = NULL;
}

static bool names(const char *pattern, const char *file)
{
    size_t n = strlen(pattern), all = strlen(file);
    if (n > all || strcmp(file + all - n, pattern) != 0)
        return false;
    return n == all || file[all - n - 1] == '/';
}

GArray *gt_coverage_exclude_of(const struct gt_coverage_exclude *x, const char *file)
{
    GArray *of = g_array_new(FALSE, FALSE, sizeof(struct gt_coverage_excluded));
    for (guint i = 0; x->list && i < x->list->len; i++) {
        const struct gt_coverage_excluded *e =
            &g_array_index(x->list, struct gt_coverage_excluded, i);
        if (names(e->file, file))
            g_array_append_val(of, *e);
    }
    return of;
}
