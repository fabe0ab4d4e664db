/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A compact file into a uftrace directory: see compact.h. */
#include "analysis/recording/compact.h"
#include "base/file.h"
#include "format/compact/file.h"
#include "format/compact/gather.h"
#include "format/compact/work.h"
#include "format/le.h"
#include "format/uftrace/dir.h"

#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER = 16 << 10 };

/* A task's records on their way to its file. */
struct task {
    uint32_t tid;
    size_t n;
    uint8_t data[BUFFER];
};

struct unpack {
    struct gt_compact_file file;
    struct gt_uftrace_dir dir;
    GHashTable *tasks; /* by tid */
    struct gt_unpacker *unpacker;
    struct gt_error *err;
};

static int flush(const struct unpack *u, struct task *t)
{
    g_autofree char *path = g_strdup_printf("%s/%u.dat", u->dir.path, t->tid);
    int status = t->n ? gt_file_append(path, t->data, t->n, u->err) : 0;
    t->n = 0;
    return status;
}

static int put(const struct unpack *u, struct task *t, uint64_t time, uint64_t word)
{
    gt_put64(gt_put64(t->data + t->n, time), word);
    t->n += GT_UFTRACE_RECORD_SIZE;
    return t->n == BUFFER ? flush(u, t) : 0;
}

/* The recording begins where the task has functions open: then it begins with these. */
static int open_calls(const struct unpack *u, struct task *t, const struct gt_compact_piece *p)
{
    int status = 0;
    for (size_t i = 0; i < p->n_open && status == 0; i++)
        status =
            put(u, t, p->open[i].begin,
                gt_uftrace_entry((uint32_t)i, gt_unpacker_word(u->unpacker, p->open[i].number)));
    return status;
}

static struct task *task_of(const struct unpack *u, uint32_t tid, bool *is_new)
{
    struct task *t = g_hash_table_lookup(u->tasks, GUINT_TO_POINTER(tid));
    *is_new = !t;
    if (!t) {
        t = g_new(struct task, 1);
        t->tid = tid;
        t->n = 0;
        g_hash_table_insert(u->tasks, GUINT_TO_POINTER(tid), t);
    }
    return t;
}

static int put_piece(void *self, const struct gt_compact_piece *p)
{
    struct unpack *u = self;
    bool is_new;
    struct task *t = task_of(u, p->task, &is_new);
    int status = is_new ? open_calls(u, t, p) : 0;
    for (size_t i = 0; i < p->n && status == 0; i++) {
        struct gt_compact_record r = gt_unpacker_record(u->unpacker, &p->event[i]);
        status = put(u, t, r.time, r.word);
    }
    return status;
}

static int put_segments(struct unpack *u, const struct gt_compact_segments *s)
{
    int status = s->orphans
                     ? gt_error_set(u->err, GT_E_FORMAT,
                                    "%s: %zu blocks with %" PRIu64
                                    " records cannot be unpacked: one before them is damaged",
                                    u->file.path, s->orphans, s->orphan_records)
                     : gt_unpacker_create(&u->unpacker);
    for (size_t i = 0; i < s->n && status == 0; i++)
        status =
            gt_compact_segment_unpack(&u->file, &s->segment[i], u->unpacker, put_piece, u, u->err);
    gt_unpacker_destroy(u->unpacker);
    return status;
}

static int put_records(struct unpack *u)
{
    struct gt_compact_segments s = {0};
    GHashTableIter it;
    gpointer task;
    int status = gt_compact_segments_find(&u->file, &s);
    if (status == 0)
        status = put_segments(u, &s);
    if (status == GT_E_NOMEM)
        gt_error_set(u->err, status, "%s: out of memory", u->file.path);
    g_hash_table_iter_init(&it, u->tasks);
    while (status == 0 && g_hash_table_iter_next(&it, NULL, &task))
        status = flush(u, task);
    gt_compact_segments_free(&s);
    return status;
}

/* Text files and records are whole only when the last process that records has ended. */
static int check_complete(const char *path, struct gt_error *err)
{
    struct gt_compact_work work;
    if (gt_compact_work_name(path, &work, NULL) < 0 || !gt_compact_work_exists(&work) ||
        gt_compact_flight_is(work.dir.path)) /* then it is a snapshot */
        return 0;
    return gt_error_set(err, GT_E_FORMAT,
                        "%s is being recorded, or was interrupted; then run guesttrace repair %s",
                        path, path);
}

int gt_recording_unpack(const char *path, const char *dir, struct gt_error *err)
{
    struct unpack u = {.err = err};
    struct gt_uftrace_dir final;
    int status = gt_compact_file_open(path, &u.file, err);
    if (status < 0)
        return status;
    g_autofree char *folder = g_path_get_dirname(dir);
    g_autofree char *base = g_path_get_basename(dir);
    g_autofree char *tmp = g_strdup_printf("%s/.%s.%d.tmp", folder, base, (int)getpid());
    u.tasks = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    status = check_complete(path, err);
    if (status == 0)
        status = gt_uftrace_dir_check(dir, err);
    if (status == 0 && (status = gt_uftrace_dir_create(&u.dir, tmp, err)) == 0) {
        status = gt_compact_scatter(path, u.dir.path, err);
        if (status == 0)
            status = put_records(&u);
        if (status == 0 && (status = gt_uftrace_dir_create(&final, dir, err)) == 0)
            status = gt_file_move_dir(u.dir.path, final.path, err);
        if (status < 0)
            gt_file_remove_dir(u.dir.path, NULL);
    }
    g_hash_table_destroy(u.tasks);
    gt_compact_file_close(&u.file);
    return status;
}

bool gt_recording_is_compact(const char *path)
{
    return gt_compact_file_check(path, NULL) == 0;
}
