/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The info file of a directory, whose list of tasks comes from task.txt. */
#include "base/cursor.h"
#include "base/text.h"
#include "recording/directory/dir_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int by_tid(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Sorted, each once. */
static size_t unique(uint32_t *tids, size_t n)
{
    size_t kept = 0;
    qsort(tids, n, sizeof *tids, by_tid);
    for (size_t i = 0; i < n; i++)
        if (!kept || tids[i] != tids[kept - 1])
            tids[kept++] = tids[i];
    return kept;
}

int gt_uftrace_dir_read_tids(const struct gt_uftrace_dir *d, uint32_t **tids, size_t *n,
                             struct gt_error *err)
{
    char file[GT_UFTRACE_FILE_MAX], *text;
    size_t size, count = 0;
    bool whole;
    struct gt_cursor all, line;
    struct gt_error why = {0};
    gt_uftrace_dir_file(d, "task.txt", file);
    int status = gt_uftrace_dir_read_text(d, "task.txt", GT_UFTRACE_TEXT_MAX, &text, &size, err);
    if (status)
        return status;
    uint32_t *list = calloc(gt_text_count_lines(text, size) + 1, sizeof *list);
    if (!list)
        status = gt_error_set(err, GT_E_NOMEM, "%s: out of memory", file);
    all = (struct gt_cursor){text, size};
    for (size_t number = 1; !status && gt_take_line(&all, &line, &whole) && whole; number++) {
        struct gt_uftrace_task task;
        status = gt_uftrace_task_read(line.at, line.left, &task, &why);
        if (status)
            gt_error_set(err, status, "%.300s line %zu, %s", file, number, why.text);
        else if (task.kind == GT_UFTRACE_TASK || task.kind == GT_UFTRACE_FORK)
            list[count++] = task.tid;
    }
    free(text);
    if (status) {
        free(list);
        return status;
    }
    *n = unique(list, count);
    *tids = list;
    return 0;
}

int gt_uftrace_dir_read_info(const struct gt_uftrace_dir *d, struct gt_uftrace_info *out,
                             struct gt_error *err)
{
    char *data;
    size_t size;
    int status = gt_uftrace_dir_read_text(d, "info", GT_UFTRACE_TEXT_MAX, &data, &size, err);
    if (status)
        return status;
    status = gt_uftrace_info_read(data, size, out, err);
    free(data);
    return status;
}

uint64_t gt_uftrace_dir_features(const struct gt_uftrace_dir *d)
{
    char file[GT_UFTRACE_FILE_MAX];
    uint64_t mask = 0;
    if (access(gt_uftrace_dir_file(d, "events.txt", file), F_OK) == 0)
        mask |= GT_UFTRACE_FEAT_EVENT;
    if (access(gt_uftrace_dir_file(d, GT_UFTRACE_NAMES, file), F_OK) == 0)
        mask |= GT_UFTRACE_FEAT_PERF_EVENT;
    return mask;
}

int gt_uftrace_dir_write_info(const struct gt_uftrace_dir *d, const struct gt_uftrace_info *info,
                              struct gt_error *err)
{
    struct gt_uftrace_info full = *info, old;
    uint32_t *tids = NULL;
    full.n_tids = 0;
    int status = gt_uftrace_dir_read_tids(d, &tids, &full.n_tids, err);
    if (status && status != GT_E_NOT_FOUND)
        return status;
    full.tids = tids;
    if (gt_uftrace_dir_read_info(d, &old, NULL) == 0) {
        if (old.max_stack > full.max_stack)
            full.max_stack = old.max_stack;
        gt_uftrace_info_free(&old);
    }
    full.feat_mask |= gt_uftrace_dir_features(d);
    struct gt_text t = {0};
    status = gt_uftrace_info_write(&t, &full, err);
    if (!status)
        status = gt_uftrace_dir_put_text(d, "info", &t, err);
    gt_text_free(&t);
    free(tids);
    return status;
}

int gt_uftrace_dir_put_info(const struct gt_uftrace_dir *d, const struct gt_uftrace_info *info,
                            struct gt_error *err)
{
    int lock = gt_uftrace_dir_lock(d, err);
    if (lock < 0)
        return lock;
    int status = gt_uftrace_dir_write_info(d, info, err);
    gt_uftrace_dir_unlock(lock);
    return status;
}
