/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making indexes: see index.h. */
#include "base/bytes.h"
#include "calls/file/index.h"
#include "calls/file/model.h"
#include "calls/file/parts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEVEL = 3 }; /* zstd's */

static void put_entry(struct gt_compact_column_out *c, const struct gt_compact_head *h,
                      const struct gt_compact_head *last)
{
    gt_compact_column_put(&c[GT_INDEX_TYPE], h->type);
    gt_compact_column_put(&c[GT_INDEX_SIZE], h->size);
    gt_compact_column_put(&c[GT_INDEX_FLAGS], h->flags);
    gt_compact_column_put(&c[GT_INDEX_PACKER],
                          gt_compact_zigzag((int64_t)h->packer - last->packer));
    gt_compact_column_put(&c[GT_INDEX_RECORDS], h->records);
    gt_compact_column_put(&c[GT_INDEX_FIRST],
                          gt_compact_zigzag((int64_t)(h->first_time - last->last_time)));
    gt_compact_column_put(&c[GT_INDEX_SPAN], h->last_time - h->first_time);
    gt_compact_column_put(&c[GT_INDEX_BEFORE],
                          gt_compact_zigzag((int64_t)(h->before - last->before - last->records)));
}

/* The columns of what the last index does not have; how many entries, or GT_E_NOMEM. */
static int64_t put_entries(const struct gt_compact_file *f,
                           struct gt_compact_column_out c[GT_INDEX_FIELDS])
{
    size_t b = f->index_blocks, g = f->index_gaps, n = f->n - b + f->n_gaps - g;
    struct gt_compact_head last = {0};
    for (int i = 0; i < GT_INDEX_FIELDS; i++)
        if (!gt_compact_column_reserve(&c[i], (n + 1) * GT_NUMBER_MAX))
            return GT_E_NOMEM;
    while (b < f->n || g < f->n_gaps)
        if (g < f->n_gaps && (b == f->n || f->gap[g].at < f->block[b].at)) {
            gt_compact_column_put(&c[GT_INDEX_TYPE], 0);
            gt_compact_column_put(&c[GT_INDEX_SIZE], f->gap[g++].size);
        } else {
            put_entry(c, &f->block[b].head, &last);
            last = f->block[b++].head;
        }
    return (int64_t)n;
}

/* The index's block. */
static int make_index(const struct gt_compact_file *f, struct gt_compact_column_out *out)
{
    struct gt_compact_column_out c[GT_INDEX_FIELDS] = {{0}};
    struct gt_compact_head head = {.type = GT_COMPACT_INDEX};
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    int64_t n = zstd ? put_entries(f, c) : GT_E_NOMEM;
    bool made = n >= 0 && gt_compact_column_reserve(out, GT_COMPACT_HEAD + GT_INDEX_LINK);
    if (made) {
        out->n = GT_COMPACT_HEAD;
        gt_compact_column_put(out, f->index_at);
        gt_compact_column_put(out, (uint64_t)n);
    }
    for (int i = 0; i < GT_INDEX_FIELDS; i++) {
        made = made && gt_compact_column_pack(&c[i], zstd, LEVEL, out);
        free(c[i].data);
    }
    ZSTD_freeCCtx(zstd);
    if (!made || !gt_compact_column_reserve(out, GT_INDEX_TRAILER))
        return GT_E_NOMEM;
    gt_bytes_put64(out->data + out->n, f->size);
    memcpy(out->data + out->n + 8, GT_INDEX_MAGIC, GT_INDEX_MAGIC_SIZE);
    out->n += GT_INDEX_TRAILER;
    if (out->n - GT_COMPACT_HEAD > GT_COMPACT_MAX_PAYLOAD)
        return GT_E_RANGE;
    head.size = (uint32_t)(out->n - GT_COMPACT_HEAD);
    gt_compact_head_write(out->data, &head, out->data + GT_COMPACT_HEAD);
    return 0;
}

int gt_compact_index_append(const char *path, struct gt_error *err)
{
    struct gt_compact_file f;
    struct gt_compact_column_out out = {0};
    int fd = gt_compact_lock(path, err);
    int status = fd < 0 ? fd : gt_compact_file_open(path, &f, err);
    if (status < 0) {
        if (fd >= 0)
            close(fd);
        return status;
    }
    bool anew = f.n > f.index_blocks || f.n_gaps > f.index_gaps || !f.index_at;
    if (anew && (status = make_index(&f, &out)) < 0)
        gt_error_set(err, status, "%s: %s", path,
                     status == GT_E_NOMEM ? "out of memory" : "too many blocks for an index");
    else if (anew)
        status = gt_compact_append_to(fd, path, out.data, out.n, err);
    free(out.data);
    gt_compact_file_close(&f);
    close(fd);
    return status;
}
