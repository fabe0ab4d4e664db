/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A compact file into a uftrace directory: see compact.h. */
#include "analysis/recording/compact.h"
#include "base/file.h"
#include "format/compact/file.h"
#include "format/le.h"
#include "format/uftrace/dir.h"

#include <errno.h>
#include <glib.h>
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

static struct task *task_of(struct unpack *u, uint32_t tid)
{
    struct task *t = g_hash_table_lookup(u->tasks, GUINT_TO_POINTER(tid));
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
    struct task *t = task_of(u, p->task);
    int status = 0;
    for (size_t i = 0; i < p->n && status == 0; i++) {
        struct gt_compact_record r = gt_unpacker_record(u->unpacker, &p->event[i]);
        gt_put64(gt_put64(t->data + t->n, r.time), r.word);
        t->n += GT_UFTRACE_RECORD_SIZE;
        if (t->n == BUFFER)
            status = flush(u, t);
    }
    return status;
}

static int put_text(struct unpack *u, const struct gt_compact_head *head, const uint8_t *payload)
{
    const char *name;
    size_t n, size;
    char *data;
    if (!gt_compact_text_name(head, payload, &name, &n))
        return gt_error_set(u->err, GT_E_FORMAT, "%s: a text file has no name", u->file.path);
    g_autofree char *own = g_strndup(name, n);
    if (strlen(own) != n || own[0] == '.' || strchr(own, '/'))
        return gt_error_set(u->err, GT_E_FORMAT, "%s: a text file's name is no file name",
                            u->file.path);
    int status = gt_compact_text_read(head, payload, &data, &size);
    if (status < 0)
        return gt_error_set(u->err, status, "%s: %s: it cannot be unpacked", u->file.path, own);
    g_autofree char *path = g_build_filename(u->dir.path, own, NULL);
    status = gt_file_replace(path, data, size, u->err);
    free(data);
    return status;
}

static int put_texts(struct unpack *u)
{
    int status = 0;
    for (size_t i = 0; i < u->file.n && status == 0; i++) {
        const uint8_t *payload;
        if (u->file.block[i].head.type != GT_COMPACT_FILE)
            continue;
        status = gt_compact_file_payload(&u->file, i, &payload, u->err);
        if (status == 0)
            status = put_text(u, &u->file.block[i].head, payload);
    }
    return status;
}

/* The records of one packer, block by block. */
static int put_packer(struct unpack *u, const size_t *block, size_t n)
{
    int status = gt_unpacker_create(&u->unpacker);
    if (status < 0)
        return gt_error_set(u->err, status, "out of memory");
    for (size_t i = 0; i < n && status == 0; i++) {
        const uint8_t *payload;
        status = gt_compact_file_payload(&u->file, block[i], &payload, u->err);
        if (status == 0)
            status = gt_unpacker_block(u->unpacker, &u->file.block[block[i]].head, payload,
                                       put_piece, u, u->err);
    }
    gt_unpacker_destroy(u->unpacker);
    return status;
}

static gint compare_packers(gconstpointer a, gconstpointer b, gpointer file)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const struct gt_compact_block *block = ((struct gt_compact_file *)file)->block;
    uint32_t p = block[x].head.packer, q = block[y].head.packer;
    return p != q ? (p < q ? -1 : 1) : x < y ? -1 : x > y;
}

static int put_records(struct unpack *u)
{
    g_autoptr(GArray) blocks = g_array_new(FALSE, FALSE, sizeof(size_t));
    int status = 0;
    for (size_t i = 0; i < u->file.n; i++)
        if (u->file.block[i].head.type == GT_COMPACT_RECORDS)
            g_array_append_val(blocks, i);
    g_array_sort_with_data(blocks, compare_packers, &u->file);
    const size_t *at = (const size_t *)(const void *)blocks->data;
    for (size_t i = 0, end; i < blocks->len && status == 0; i = end) {
        uint32_t packer = u->file.block[at[i]].head.packer;
        for (end = i; end < blocks->len && u->file.block[at[end]].head.packer == packer; end++)
            continue;
        status = put_packer(u, at + i, end - i);
    }
    GHashTableIter it;
    gpointer task;
    g_hash_table_iter_init(&it, u->tasks);
    while (status == 0 && g_hash_table_iter_next(&it, NULL, &task))
        status = flush(u, task);
    return status;
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
    status = gt_uftrace_dir_check(dir, err);
    if (status == 0 && (status = gt_uftrace_dir_create(&u.dir, tmp, err)) == 0) {
        status = put_texts(&u);
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
