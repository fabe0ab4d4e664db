/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text files of a recording in one file: see file.h. The payload: number of bytes of its name,
 * the name, number of bytes of its contents, the contents packed by zstd.
 */
#include "calls/file/column.h"
#include "calls/file/parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_LEVEL = 3 };

bool gt_compact_text_name(const struct gt_compact_head *head, const uint8_t *payload,
                          const char **name, size_t *n)
{
    struct gt_compact_column_in in = {payload, payload + head->size, false};
    uint64_t size = gt_compact_column_take(&in);
    if (in.bad || size == 0 || size > GT_COMPACT_MAX_NAME || size > (uint64_t)(in.end - in.at))
        return false;
    *name = (const char *)in.at;
    *n = (size_t)size;
    return true;
}

int gt_compact_text_read(const struct gt_compact_head *head, const uint8_t *payload, char **data,
                         size_t *size)
{
    const char *name;
    size_t n;
    if (!gt_compact_text_name(head, payload, &name, &n))
        return GT_E_FORMAT;
    struct gt_compact_column_in in = {(const uint8_t *)name + n, payload + head->size, false};
    uint64_t raw = gt_compact_column_take(&in);
    if (in.bad || raw > GT_COMPACT_MAX_TEXT)
        return GT_E_FORMAT;
    char *out = malloc((size_t)raw + 1);
    if (!out)
        return GT_E_NOMEM;
    if (ZSTD_decompress(out, (size_t)raw, in.at, (size_t)(in.end - in.at)) != raw) {
        free(out);
        return GT_E_FORMAT;
    }
    out[raw] = '\0';
    *data = out;
    *size = (size_t)raw;
    return 0;
}

int gt_compact_file_name(const struct gt_compact_file *f, size_t i,
                         char name[GT_COMPACT_MAX_NAME + 1], struct gt_error *err)
{
    const struct gt_compact_block *b = &f->block[i];
    uint8_t data[GT_NUMBER_MAX + GT_COMPACT_MAX_NAME];
    struct gt_compact_head head = b->head;
    const char *own, *path;
    uint64_t at;
    size_t n;
    head.size = head.size < sizeof data ? head.size : sizeof data;
    int status = gt_compact_pread(f, data, head.size, b->at + GT_COMPACT_HEAD, err);
    if (status < 0)
        return status;
    if (head.type != GT_COMPACT_FILE || !gt_compact_text_name(&head, data, &own, &n) ||
        memchr(own, 0, n)) {
        path = gt_compact_file_place(f, b->at, &at);
        return gt_error_set(err, GT_E_FORMAT,
                            "%s: offset %" PRIu64 ": the text file's name is damaged", path, at);
    }
    memcpy(name, own, n);
    name[n] = '\0';
    return 0;
}

static int read_text(const struct gt_compact_file *f, size_t i, char **data, size_t *size,
                     struct gt_error *err)
{
    struct gt_compact_buffer buffer = {0};
    const uint8_t *payload;
    uint64_t at;
    const char *path = gt_compact_file_place(f, f->block[i].at, &at);
    int status = gt_compact_file_read(f, i, &buffer, &payload, err);
    if (status == 0) {
        status = gt_compact_text_read(&f->block[i].head, payload, data, size);
        if (status < 0)
            gt_error_set(err, status, "%s: offset %" PRIu64 ": %s", path, at,
                         status == GT_E_NOMEM ? "out of memory"
                                              : "the text file's contents are damaged");
    }
    gt_compact_buffer_free(&buffer);
    return status;
}

int gt_compact_file_text(const struct gt_compact_file *f, const char *name, char **data,
                         size_t *size, struct gt_error *err)
{
    char own[GT_COMPACT_MAX_NAME + 1];
    for (size_t i = f->n; i-- > f->own;) {
        if (f->block[i].head.type != GT_COMPACT_FILE)
            continue;
        int status = gt_compact_file_name(f, i, own, err);
        if (status == GT_E_IO)
            return status;
        if (status == 0 && strcmp(own, name) == 0)
            return read_text(f, i, data, size, err);
    }
    return gt_error_set(err, GT_E_NOT_FOUND, "%s: it has no %s", f->path, name);
}

int gt_compact_text_pack(const char *name, const void *data, size_t n, uint8_t **block,
                         size_t *size)
{
    size_t name_size = strlen(name), bound = ZSTD_compressBound(n);
    struct gt_compact_column_out out = {0};
    if (name_size == 0 || name_size > GT_COMPACT_MAX_NAME || n > GT_COMPACT_MAX_TEXT)
        return GT_E_RANGE;
    if (!gt_compact_column_reserve(&out, GT_COMPACT_HEAD + 2 * GT_NUMBER_MAX + name_size + bound))
        return GT_E_NOMEM;
    out.n = GT_COMPACT_HEAD;
    gt_compact_column_put(&out, name_size);
    memcpy(out.data + out.n, name, name_size);
    out.n += name_size;
    gt_compact_column_put(&out, n);
    size_t packed = ZSTD_compress(out.data + out.n, bound, data, n, TEXT_LEVEL);
    struct gt_compact_head head = {.type = GT_COMPACT_FILE};
    if (ZSTD_isError(packed) || out.n + packed - GT_COMPACT_HEAD > GT_COMPACT_MAX_PAYLOAD) {
        free(out.data);
        return ZSTD_isError(packed) ? GT_E_NOMEM : GT_E_RANGE;
    }
    out.n += packed;
    head.size = (uint32_t)(out.n - GT_COMPACT_HEAD);
    gt_compact_head_write(out.data, &head, out.data + GT_COMPACT_HEAD);
    *block = out.data;
    *size = out.n;
    return 0;
}
