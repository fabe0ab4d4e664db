/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A line of task.txt, and the same bytes as a path: written and read again it stays as it is. */
#include "recording/directory/uftrace.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool good)
{
    if (!good)
        abort();
}

static void check_path(const uint8_t *data, size_t size)
{
    char *path = malloc(size + 1), once[64], twice[64];
    require(path != NULL);
    memcpy(path, data, size);
    path[size] = 0;
    gt_uftrace_path(path, once, sizeof once);
    gt_uftrace_path(once, twice, sizeof twice);
    require(*once && !strpbrk(once, " \"\\\n\t") && *once != '[' && !strcmp(once, twice));
    free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gt_uftrace_task task, again;
    struct gt_error err;
    struct gt_text t = {0};
    check_path(data, size);
    if (gt_uftrace_task_read((const char *)data, size, &task, &err))
        return 0;
    require(gt_uftrace_task_write(&t, &task, NULL) == 0 && t.data[t.len - 1] == '\n');
    require(gt_uftrace_task_read(t.data, t.len - 1, &again, NULL) == 0);
    gt_uftrace_path(task.path, task.path, sizeof task.path);
    bool has_path = task.kind == GT_UFTRACE_SESS || task.kind == GT_UFTRACE_DLOP;
    require(!has_path || !strcmp(task.path, again.path));
    require(task.kind == again.kind && task.time == again.time && task.tid == again.tid &&
            task.pid == again.pid && task.base == again.base && !strcmp(task.sid, again.sid));
    gt_text_free(&t);
    return 0;
}
