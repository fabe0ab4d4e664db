/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening a recording in one file: see file.h. */
#include "calls/file/file.h"

#include "calls/file/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WINDOW = 64 << 10 };

/* ---- blocks -------------------------------------------------------------------------------- */

/* True: a block begins in `data`, which is at `at`, and is whole. */
static bool is_block(const struct gt_compact_file *f, const uint8_t *data, size_t n, uint64_t at,
                     struct gt_compact_block *out)
{
    out->at = at;
    return gt_compact_head_read(data, n, &out->head) == 0 &&
           out->head.size <= f->size - at - GT_COMPACT_HEAD;
}

/* Looks for a block from `at` on, where none begins. *next: where; the file's end. */
static int skip_gap(const struct gt_compact_file *f, uint64_t at, uint64_t *next,
                    struct gt_error *err)
{
    uint8_t *data = malloc(WINDOW);
    struct gt_compact_block b;
    int status = data ? 0 : gt_error_set(err, GT_E_NOMEM, "%s: out of memory", f->path);
    for (*next = f->size; status == 0 && *next == f->size && f->size - at >= GT_COMPACT_HEAD;) {
        size_t n = f->size - at < WINDOW ? (size_t)(f->size - at) : WINDOW;
        status = gt_compact_pread(f, data, n, at, err);
        for (size_t i = 0; status == 0 && i + GT_COMPACT_HEAD <= n && *next == f->size; i++)
            if (data[i] == 't' && is_block(f, data + i, n - i, at + i, &b))
                *next = at + i;
        at += n - GT_COMPACT_HEAD + 1;
    }
    free(data);
    return status;
}

/* Where no block begins at `at`, the one before it, from number `known` on, may be one that a
 * process was killed in the middle of, and another process has added its own after that. Then it is
 * taken off the list, and *at is where it begins. */
static void take_back_torn(struct gt_compact_file *f, size_t known, uint64_t *at)
{
    struct gt_compact_buffer buffer = {0};
    const uint8_t *payload;
    struct gt_error err;
    if (f->n > known && f->whole == *at &&
        gt_compact_file_read(f, f->n - 1, &buffer, &payload, &err) == GT_E_FORMAT) {
        *at = f->block[--f->n].at;
        f->whole = *at;
    }
    gt_compact_buffer_free(&buffer);
}

/* True: what lies there is no index, though its head is whole. */
static bool is_bad_index(const struct gt_compact_file *f, const struct gt_compact_block *b)
{
    struct gt_compact_file one = {.fd = f->fd, .path = f->path, .block = (void *)b};
    struct gt_compact_buffer buffer = {0};
    const uint8_t *payload;
    bool bad = b->head.type == GT_COMPACT_INDEX &&
               gt_compact_file_read(&one, 0, &buffer, &payload, NULL) == GT_E_FORMAT;
    gt_compact_buffer_free(&buffer);
    return bad;
}

int gt_compact_scan(struct gt_compact_file *f, struct gt_error *err)
{
    uint8_t head[GT_COMPACT_HEAD];
    const size_t known = f->n;
    int status = 0;
    for (uint64_t at = f->whole, next; at < f->size; at = next) {
        struct gt_compact_block b = {0};
        size_t n = f->size - at < GT_COMPACT_HEAD ? (size_t)(f->size - at) : GT_COMPACT_HEAD;
        status = gt_compact_pread(f, head, n, at, err);
        bool good = status == 0 && is_block(f, head, n, at, &b);
        next = at + GT_COMPACT_HEAD + b.head.size;
        if (status == 0 && !good) {
            take_back_torn(f, known, &at);
            status = skip_gap(f, at + 1, &next, err);
        }
        if (status < 0) /* it has just been cut: as if it had been so before */
            return status == GT_E_TRUNC ? 0 : status;
        good = good && !is_bad_index(f, &b);
        if (!(good ? gt_compact_add_block(f, &b) : gt_compact_add_gap(f, at, next - at)))
            return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", f->path);
    }
    return 0;
}

/* ---- life ---------------------------------------------------------------------------------- */

static int open_head(const char *path, struct gt_compact_file *out, struct gt_error *err)
{
    struct stat st;
    *out = (struct gt_compact_file){.fd = open(path, O_RDONLY | O_CLOEXEC), .path = strdup(path)};
    int status = 0;
    if (out->fd < 0 || fstat(out->fd, &st) != 0)
        status = gt_error_errno(err, errno, "%s", path);
    else if (!out->path)
        status = gt_error_set(err, GT_E_NOMEM, "%s: out of memory", path);
    else if (!S_ISREG(st.st_mode))
        status = gt_error_set(err, GT_E_FORMAT, "%s: not a compact recording", path);
    else
        out->size = (uint64_t)st.st_size;
    out->whole = GT_COMPACT_FILE_HEAD;
    return status < 0 ? status : gt_compact_read_head(out, err);
}

static int open_with(const char *path, bool index, struct gt_compact_file *out,
                     struct gt_error *err)
{
    int status = open_head(path, out, err);
    if (status == 0 && index)
        status = gt_compact_index_load(out, err);
    if (status == 0)
        status = gt_compact_scan(out, err);
    if (status < 0)
        gt_compact_file_close(out);
    return status;
}

int gt_compact_file_open(const char *path, struct gt_compact_file *out, struct gt_error *err)
{
    return open_with(path, true, out, err);
}

int gt_compact_file_scan(const char *path, struct gt_compact_file *out, struct gt_error *err)
{
    return open_with(path, false, out, err);
}

int gt_compact_file_check(const char *path, struct gt_error *err)
{
    struct gt_compact_file f;
    int status = open_head(path, &f, err);
    gt_compact_file_close(&f);
    return status;
}

void gt_compact_file_close(struct gt_compact_file *f)
{
    if (f->fd >= 0)
        close(f->fd);
    free(f->path);
    free(f->block);
    free(f->gap);
    for (size_t i = 0; i < f->n_members; i++)
        free(f->member[i].path);
    free(f->member);
    gt_compact_buffer_free(&f->buffer);
    *f = (struct gt_compact_file){.fd = -1};
}

int gt_compact_file_payload(struct gt_compact_file *f, size_t i, const uint8_t **payload,
                            struct gt_error *err)
{
    return gt_compact_file_read(f, i, &f->buffer, payload, err);
}
