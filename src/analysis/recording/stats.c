/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guesttrace.stats: see stats.h. */
#include "analysis/recording/stats.h"

#include "base/file.h"
#include "base/number.h"
#include "format/recording/stats.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define STATS_LIMIT (1u << 20)

void gt_stats_mark(const char *dir, const char *name, struct gt_stats_mark *mark)
{
    struct stat st;
    g_autofree char *path = g_build_filename(dir, name, NULL);
    *mark = (struct gt_stats_mark){0};
    if (stat(path, &st) == 0)
        *mark = (struct gt_stats_mark){st.st_dev, st.st_ino, st.st_mtim};
}

bool gt_stats_same(const struct gt_stats_mark *a, const struct gt_stats_mark *b)
{
    return a->ino && a->dev == b->dev && a->ino == b->ino && a->mtime.tv_sec == b->mtime.tv_sec &&
           a->mtime.tv_nsec == b->mtime.tv_nsec;
}

int gt_stats_read(const char *dir, const struct gt_stats_mark *older, struct gt_stats *out,
                  struct gt_error *err)
{
    struct gt_stats_mark mark;
    size_t size;
    *out = (struct gt_stats){0};
    gt_stats_mark(dir, GT_STATS_FILE, &mark);
    if (older && gt_stats_same(older, &mark))
        return gt_error_set(err, GT_E_NOT_FOUND, "%s/%s is of an earlier recording", dir,
                            GT_STATS_FILE);
    g_autofree char *path = g_build_filename(dir, GT_STATS_FILE, NULL);
    int status = gt_file_read(path, STATS_LIMIT, &out->text, &size, err);
    if (status < 0)
        return status;
    GArray *items = g_array_new(FALSE, FALSE, sizeof(struct gt_stat));
    struct gt_stat item;
    for (char *at = out->text; gt_stats_next(&at, &item.key, &item.value);)
        g_array_append_val(items, item);
    out->n = items->len;
    out->item = (struct gt_stat *)(void *)g_array_free(items, FALSE);
    return 0;
}

void gt_stats_clear(struct gt_stats *s)
{
    g_free(s->item);
    free(s->text);
    *s = (struct gt_stats){0};
}

const char *gt_stats_text(const struct gt_stats *s, const char *key)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->item[i].key, key) == 0)
            return s->item[i].value;
    return NULL;
}

uint64_t gt_stats_number(const struct gt_stats *s, const char *key)
{
    const char *text = gt_stats_text(s, key);
    uint64_t n;
    return text && gt_number_parse(text, &n) == 0 ? n : 0;
}
