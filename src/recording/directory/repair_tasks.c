/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Repairs task.txt and adds the missing maps of its sessions. */
#include "base/cursor.h"
#include "base/text.h"
#include "recording/directory/dir_internal.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tasks {
    const struct gt_uftrace_dir *dir;
    struct gt_uftrace_task_repair *want;
    struct gt_text out;
    bool *seen;                     /* of want->tids */
    struct gt_uftrace_task session; /* the first one; pid 0: none yet */
};

static int by_tid(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void note_tid(struct tasks *t, uint32_t tid)
{
    if (!t->want->n)
        return;
    const uint32_t *at = bsearch(&tid, t->want->tids, t->want->n, sizeof tid, by_tid);
    if (at)
        t->seen[at - t->want->tids] = true;
}

/* A session without a map would make every reader fail. */
static int need_map(struct tasks *t, const char *sid, struct gt_error *err)
{
    char name[64], file[GT_UFTRACE_FILE_MAX];
    snprintf(name, sizeof name, "sid-%s.map", sid);
    if (access(gt_uftrace_dir_file(t->dir, name, file), F_OK) == 0)
        return 0;
    gt_uftrace_repair_report(t->want->opt, t->want->stats, name,
                             "it was missing: written anew without modules; functions have no names"
                             " until 'guesttrace symbols' is given their files");
    return gt_uftrace_dir_put_map(t->dir, sid, NULL, 0, err);
}

static int keep_lines(struct tasks *t, const char *text, size_t size, struct gt_error *err)
{
    struct gt_cursor all = {text, size}, line;
    struct gt_uftrace_task task;
    bool whole;
    int status = 0;
    while (!status && gt_take_line(&all, &line, &whole)) {
        if (!whole || gt_uftrace_task_read(line.at, line.left, &task, NULL)) {
            t->want->dropped++;
            continue;
        }
        gt_text_add(&t->out, line.at, line.left + 1);
        if (task.kind == GT_UFTRACE_SESS)
            status = need_map(t, task.sid, err);
        if (task.kind == GT_UFTRACE_SESS && !t->session.pid)
            t->session = task;
        if (task.kind == GT_UFTRACE_TASK || task.kind == GT_UFTRACE_FORK)
            note_tid(t, task.tid);
    }
    return status;
}

/* The session that a map was written for, the first one by name; 0 where there is none. */
static void find_sid(const struct gt_uftrace_dir *d, char sid[GT_UFTRACE_SID_LEN + 1])
{
    struct dirent **list;
    int n = scandir(d->path, &list, NULL, alphasort);
    gt_uftrace_sid(0, sid);
    for (int i = n - 1; i >= 0; i--) {
        const char *name = list[i]->d_name;
        if (strlen(name) == 8 + GT_UFTRACE_SID_LEN && !memcmp(name, "sid-", 4) &&
            gt_is_hex(name + 4, GT_UFTRACE_SID_LEN) && !strcmp(name + 20, ".map"))
            memcpy(sid, name + 4, GT_UFTRACE_SID_LEN);
        free(list[i]);
    }
    if (n >= 0)
        free(list);
}

static void find_program(const struct gt_uftrace_dir *d, char path[GT_UFTRACE_PATH_MAX])
{
    struct gt_uftrace_info info;
    if (gt_uftrace_dir_read_info(d, &info, NULL) < 0)
        return;
    gt_uftrace_path(info.exename, path, GT_UFTRACE_PATH_MAX);
    gt_uftrace_info_free(&info);
}

static int add_missing(struct tasks *t, struct gt_error *err)
{
    int status = 0;
    if (!t->session.pid && t->want->n) {
        t->session = (struct gt_uftrace_task){.kind = GT_UFTRACE_SESS, .pid = t->want->tids[0]};
        find_sid(t->dir, t->session.sid);
        find_program(t->dir, t->session.path);
        status = gt_uftrace_task_write(&t->out, &t->session, err);
        if (!status)
            status = need_map(t, t->session.sid, err);
        t->want->added++;
    }
    for (size_t i = 0; !status && i < t->want->n; i++) {
        if (t->seen[i])
            continue;
        uint64_t time = t->want->first[i];
        struct gt_uftrace_task task = {
            .kind = GT_UFTRACE_TASK,
            .time = time > t->session.time ? time : t->session.time,
            .tid = t->want->tids[i],
            .pid = t->session.pid,
        };
        status = gt_uftrace_task_write(&t->out, &task, err);
        t->want->added++;
    }
    return status;
}

int gt_uftrace_dir_repair_tasks(const struct gt_uftrace_dir *d, struct gt_uftrace_task_repair *r,
                                struct gt_error *err)
{
    char *text;
    size_t size = 0;
    struct tasks t = {.dir = d, .want = r, .seen = calloc(r->n + 1, 1)};
    if (!t.seen)
        return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", d->path);
    int status = gt_uftrace_dir_read_text(d, "task.txt", GT_UFTRACE_TEXT_MAX, &text, &size, err);
    if (status == GT_E_NOT_FOUND)
        status = 0;
    if (!status)
        status = keep_lines(&t, text, size, err);
    if (!status)
        status = add_missing(&t, err);
    if (!status && (r->dropped || r->added || !text)) {
        status = gt_uftrace_dir_put_text(d, "task.txt", &t.out, err);
        gt_uftrace_repair_report(r->opt, r->stats, "task.txt",
                                 "%s: lines left out: %" PRIu64 ", added: %" PRIu64,
                                 !text        ? "it was missing"
                                 : !size      ? "it was empty"
                                 : r->dropped ? "lines were not readable"
                                              : "tasks were missing",
                                 r->dropped, r->added);
    }
    gt_uftrace_path(t.session.path, r->program, sizeof r->program);
    gt_text_free(&t.out);
    free(t.seen);
    free(text);
    return status;
}
