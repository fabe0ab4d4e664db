/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guesttrace.stats: see stats.h. */
#include "calls/repair/stats.h"

#include "base/file.h"

#include <glib.h>
#include <sys/stat.h>

#define STATS_LIMIT (1u << 20)

void gt_repair_mark(const char *dir, const char *name, struct gt_repair_mark *mark)
{
    struct stat st;
    g_autofree char *path = g_build_filename(dir, name, NULL);
    *mark = (struct gt_repair_mark){0};
    if (stat(path, &st) == 0)
        *mark = (struct gt_repair_mark){st.st_dev, st.st_ino, st.st_mtim};
}

bool gt_repair_mark_same(const struct gt_repair_mark *a, const struct gt_repair_mark *b)
{
    return a->ino && a->dev == b->dev && a->ino == b->ino && a->mtime.tv_sec == b->mtime.tv_sec &&
           a->mtime.tv_nsec == b->mtime.tv_nsec;
}

int gt_repair_stats_read(const char *dir, const struct gt_repair_mark *older,
                         struct gt_recording_stats *out, struct gt_error *err)
{
    struct gt_repair_mark mark;
    size_t size;
    *out = (struct gt_recording_stats){0};
    gt_repair_mark(dir, GT_STATS_FILE, &mark);
    if (older && gt_repair_mark_same(older, &mark))
        return gt_error_set(err, GT_E_NOT_FOUND, "%s/%s is of an earlier recording", dir,
                            GT_STATS_FILE);
    g_autofree char *path = g_build_filename(dir, GT_STATS_FILE, NULL);
    char *text;
    int status = gt_file_read(path, STATS_LIMIT, &text, &size, err);
    if (status < 0)
        return status;
    status = gt_recording_stats_parse(out, text);
    return status < 0 ? gt_error_set(err, status, "%s: out of memory", path) : 0;
}
