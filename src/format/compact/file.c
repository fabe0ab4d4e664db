/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording in one file: see file.h. The file's head: 8 bytes of MAGIC, u32 version, u32 0.
 * A text file's payload: number of bytes of its name, the name, number of bytes of its contents,
 * the contents packed by zstd.
 */
#include "format/compact/file.h"

#include "format/compact/column.h"
#include "format/le.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "gtrace\r\n"
enum { MAGIC_SIZE = 8, TEXT_LEVEL = 3, HEADS = 64 };

/* ---- reading ------------------------------------------------------------------------------- */

/* n bytes at `at`. 0, GT_E_TRUNC: the file ends before; GT_E_IO. */
static int read_at(const struct gt_compact_file *f, void *data, size_t n, uint64_t at,
                   struct gt_error *err)
{
    for (size_t have = 0; have < n;) {
        ssize_t got = pread(f->fd, (char *)data + have, n - have, (off_t)(at + have));
        if (got < 0 && errno != EINTR)
            return gt_error_errno(err, errno, "%s", f->path);
        if (got == 0)
            return gt_error_set(err, GT_E_TRUNC, "%s: offset %" PRIu64 ": the file ends here",
                                f->path, at + have);
        have += got > 0 ? (size_t)got : 0;
    }
    return 0;
}

static int read_file_head(const struct gt_compact_file *f, struct gt_error *err)
{
    uint8_t head[GT_COMPACT_FILE_HEAD];
    int status = read_at(f, head, sizeof head, 0, err);
    if (status == GT_E_TRUNC || (status == 0 && memcmp(head, MAGIC, MAGIC_SIZE) != 0))
        return gt_error_set(err, GT_E_FORMAT, "%s: it is no compact recording", f->path);
    uint32_t version = status < 0 ? 0 : gt_le32(head + MAGIC_SIZE);
    if (status == 0 && version != GT_COMPACT_VERSION)
        return gt_error_set(
            err, GT_E_FORMAT,
            "%s: a compact recording of version %u; this guesttrace reads version %d", f->path,
            version, GT_COMPACT_VERSION);
    return status;
}

static bool add_block(struct gt_compact_file *f, const struct gt_compact_block *block)
{
    if (f->n == f->room) {
        size_t room = f->room ? 2 * f->room : HEADS;
        struct gt_compact_block *more = realloc(f->block, room * sizeof *more);
        if (!more)
            return false;
        f->block = more;
        f->room = room;
    }
    f->block[f->n++] = *block;
    return true;
}

static int read_blocks(struct gt_compact_file *f, struct gt_error *err)
{
    uint8_t head[GT_COMPACT_HEAD];
    f->whole = GT_COMPACT_FILE_HEAD;
    for (;;) {
        struct gt_compact_block b = {.at = f->whole};
        if (f->size - f->whole < GT_COMPACT_HEAD)
            return 0;
        int status = read_at(f, head, sizeof head, b.at, err);
        if (status < 0)
            return status == GT_E_TRUNC ? 0 : status;
        if (gt_compact_head_read(head, sizeof head, &b.head) < 0 ||
            b.head.size > f->size - f->whole - GT_COMPACT_HEAD)
            return 0;
        if (!add_block(f, &b))
            return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", f->path);
        f->whole += GT_COMPACT_HEAD + b.head.size;
    }
}

int gt_compact_file_open(const char *path, struct gt_compact_file *out, struct gt_error *err)
{
    struct stat st;
    *out = (struct gt_compact_file){.fd = open(path, O_RDONLY | O_CLOEXEC), .path = strdup(path)};
    int status = 0;
    if (out->fd < 0 || fstat(out->fd, &st) != 0)
        status = gt_error_errno(err, errno, "%s", path);
    else if (!out->path)
        status = gt_error_set(err, GT_E_NOMEM, "%s: out of memory", path);
    else if (!S_ISREG(st.st_mode))
        status = gt_error_set(err, GT_E_FORMAT, "%s: it is no compact recording", path);
    else
        out->size = (uint64_t)st.st_size;
    if (status == 0)
        status = read_file_head(out, err);
    if (status == 0)
        status = read_blocks(out, err);
    if (status < 0)
        gt_compact_file_close(out);
    return status;
}

void gt_compact_file_close(struct gt_compact_file *f)
{
    if (f->fd >= 0)
        close(f->fd);
    free(f->path);
    free(f->block);
    free(f->payload);
    *f = (struct gt_compact_file){.fd = -1};
}

int gt_compact_file_payload(struct gt_compact_file *f, size_t i, const uint8_t **payload,
                            struct gt_error *err)
{
    const struct gt_compact_block *b = &f->block[i];
    size_t size = GT_COMPACT_HEAD + b->head.size;
    if (f->payload_room < size) {
        uint8_t *more = realloc(f->payload, size);
        if (!more)
            return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", f->path);
        f->payload = more;
        f->payload_room = size;
    }
    int status = read_at(f, f->payload, size, b->at, err);
    *payload = f->payload + GT_COMPACT_HEAD;
    if (status == 0 && !gt_compact_head_fits(f->payload, *payload, b->head.size))
        return gt_error_set(err, GT_E_FORMAT,
                            "%s: offset %" PRIu64 ": the block's checksum does not fit it", f->path,
                            b->at);
    return status;
}

/* ---- text files ---------------------------------------------------------------------------- */

bool gt_compact_text_name(const struct gt_compact_head *head, const uint8_t *payload,
                          const char **name, size_t *n)
{
    struct gt_column_in in = {payload, payload + head->size, false};
    uint64_t size = gt_column_take(&in);
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
    struct gt_column_in in = {(const uint8_t *)name + n, payload + head->size, false};
    uint64_t raw = gt_column_take(&in);
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

int gt_compact_file_text(struct gt_compact_file *f, const char *name, char **data, size_t *size,
                         struct gt_error *err)
{
    for (size_t i = f->n; i-- > 0;) {
        const struct gt_compact_block *b = &f->block[i];
        const uint8_t *payload = NULL;
        const char *own = NULL;
        size_t n = 0;
        if (b->head.type != GT_COMPACT_FILE)
            continue;
        int status = gt_compact_file_payload(f, i, &payload, err);
        if (status < 0)
            return status;
        if (!gt_compact_text_name(&b->head, payload, &own, &n) || n != strlen(name) ||
            memcmp(own, name, n) != 0)
            continue;
        status = gt_compact_text_read(&b->head, payload, data, size);
        if (status < 0)
            gt_error_set(err, status, "%s: offset %" PRIu64 ": %s: %s", f->path, b->at, name,
                         status == GT_E_NOMEM ? "out of memory" : "its contents are damaged");
        return status;
    }
    return gt_error_set(err, GT_E_NOT_FOUND, "%s: it has no %s", f->path, name);
}

int gt_compact_text_pack(const char *name, const void *data, size_t n, uint8_t **block,
                         size_t *size)
{
    size_t name_size = strlen(name), bound = ZSTD_compressBound(n);
    struct gt_column_out out = {0};
    if (name_size == 0 || name_size > GT_COMPACT_MAX_NAME || n > GT_COMPACT_MAX_TEXT)
        return GT_E_RANGE;
    if (!gt_column_reserve(&out, GT_COMPACT_HEAD + 2 * GT_NUMBER_MAX + name_size + bound))
        return GT_E_NOMEM;
    out.n = GT_COMPACT_HEAD;
    gt_column_put(&out, name_size);
    memcpy(out.data + out.n, name, name_size);
    out.n += name_size;
    gt_column_put(&out, n);
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

/* ---- writing ------------------------------------------------------------------------------- */

/* All of it, at the file's end. 0 or an errno value. */
static int write_all(int fd, const uint8_t *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno != EINTR)
            return errno;
        if (n == 0)
            return EIO;
        data += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

int gt_compact_file_create(const char *path, struct gt_error *err)
{
    uint8_t head[GT_COMPACT_FILE_HEAD] = MAGIC;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno == EEXIST ? gt_error_set(err, GT_E_EXISTS, "%s exists", path)
                               : gt_error_errno(err, errno, "%s", path);
    gt_put32(head + MAGIC_SIZE, GT_COMPACT_VERSION);
    int e = write_all(fd, head, sizeof head);
    close(fd);
    if (!e)
        return 0;
    unlink(path);
    return gt_error_errno(err, e, "%s", path);
}

int gt_compact_file_append(const char *path, const void *block, size_t size, struct gt_error *err)
{
    struct stat st;
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0)
        return gt_error_errno(err, errno, "%s", path);
    int e = flock(fd, LOCK_EX) != 0 || fstat(fd, &st) != 0 ? errno : 0;
    if (!e) {
        e = write_all(fd, block, size);
        if (e) /* where this fails too, readers take the file as cut */
            (void)!ftruncate(fd, st.st_size);
    }
    close(fd);
    return e ? gt_error_errno(err, e, "%s", path) : 0;
}
