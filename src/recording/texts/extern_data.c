/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of extern.dat: see extern_data.h. */
#include "recording/texts/extern_data.h"

#include "base/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)
enum { FILE_MAX = 256 << 20 };

struct line {
    uint64_t time;
    size_t number; /* in the order in which they came */
    const char *at;
    size_t n; /* with its end */
};

void gt_recording_extern_put(struct gt_text *out, uint64_t time, const char *text)
{
    gt_text_printf(out, "%" PRIu64 ".%09" PRIu64 " ", time / SECOND, time % SECOND);
    gt_text_add_value(out, text, GT_EXTERN_LINE_MAX);
    gt_text_add(out, "\n", 1);
}

bool gt_recording_extern_take_time(struct gt_text_cursor *line, uint64_t *out)
{
    uint64_t seconds, part;
    if (!gt_text_take_dec(line, UINT64_MAX / SECOND - 1, &seconds) || !gt_text_take(line, "."))
        return false;
    size_t before = line->left;
    if (!gt_text_take_dec(line, SECOND - 1, &part) || before - line->left > 9)
        return false;
    for (size_t digits = before - line->left; digits < 9; digits++)
        part *= 10;
    *out = seconds * SECOND + part;
    return gt_text_take(line, " ");
}

/* 0 where the line has none. */
static uint64_t time_of(const char *at, size_t n)
{
    struct gt_text_cursor line = {at, n};
    uint64_t time;
    return gt_recording_extern_take_time(&line, &time) ? time : 0;
}

static size_t split(const char *text, size_t size, struct line *line, size_t first)
{
    size_t n = first;
    for (const char *at = text, *end = text + size; at < end; n++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((stop ? stop + 1 : end) - at);
        line[n] = (struct line){time_of(at, length), n, at, length};
        at += length;
    }
    return n;
}

static int compare(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

static int write_sorted(const char *path, struct line *line, size_t n, struct gt_error *err)
{
    struct gt_text all = {0};
    qsort(line, n, sizeof *line, compare);
    for (size_t i = 0; i < n; i++) {
        gt_text_add(&all, line[i].at, line[i].n);
        if (line[i].at[line[i].n - 1] != '\n')
            gt_text_add(&all, "\n", 1);
    }
    int status = gt_file_replace_text(path, &all, err);
    gt_text_free(&all);
    return status;
}

int gt_recording_extern_add(const char *path, const struct gt_text *lines, struct gt_error *err)
{
    char *old = NULL;
    size_t size = 0;
    int status = gt_file_read(path, FILE_MAX, &old, &size, err);
    if (status < 0 && status != GT_E_NOT_FOUND)
        return status;
    size_t most = gt_text_count_lines(old ? old : "", size) +
                  gt_text_count_lines(lines->data ? lines->data : "", lines->len);
    struct line *line = malloc((most + 1) * sizeof *line);
    if (line) {
        size_t n = split(old, size, line, 0);
        n = split(lines->data, lines->len, line, n);
        status = n ? write_sorted(path, line, n, err) : 0;
    } else {
        status = gt_error_set(err, GT_E_NOMEM, "%s: out of memory", path);
    }
    free(line);
    free(old);
    return status;
}
