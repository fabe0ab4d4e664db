/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of a file's blocks, the file's head, and reading: see file.h and parts.h. The file's
 * head: 8 bytes of MAGIC, u16 major and u16 minor version, u32 0. */
#include "base/array.h"
#include "base/bytes.h"
#include "calls/file/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAGIC "gtrace\r\n"
enum { MAGIC_SIZE = 8 };

/* ---- reading ------------------------------------------------------------------------------- */

/* Which member has the offset. */
static size_t member_of(const struct gt_compact_file *f, uint64_t at)
{
    size_t low = 0, high = f->n_members;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (f->member[middle].begin <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

const char *gt_compact_file_place(const struct gt_compact_file *f, uint64_t at, uint64_t *own)
{
    *own = at;
    if (f->n_members == 0)
        return f->path;
    const struct gt_compact_member *m = &f->member[member_of(f, at)];
    *own = at - m->begin;
    return m->path;
}

static int read_at(int fd, const char *path, void *data, size_t n, uint64_t at,
                   struct gt_error *err)
{
    for (size_t have = 0; have < n;) {
        ssize_t got = pread(fd, (char *)data + have, n - have, (off_t)(at + have));
        if (got < 0 && errno != EINTR)
            return gt_error_errno(err, errno, "%s", path);
        if (got == 0)
            return gt_error_set(err, GT_E_TRUNC, "%s: offset %" PRIu64 ": the file ends here", path,
                                at + have);
        have += got > 0 ? (size_t)got : 0;
    }
    return 0;
}

/* Of many files only the last one stays open: descriptors are few. One that is removed meanwhile is
 * damage as any other. */
static int read_member(const struct gt_compact_file *f, size_t i, void *data, size_t n, uint64_t at,
                       struct gt_error *err)
{
    const struct gt_compact_member *m = &f->member[i];
    if (i == f->n_members - 1 && f->fd >= 0)
        return read_at(f->fd, m->path, data, n, at - m->begin, err);
    int fd = open(m->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return gt_error_set(err, GT_E_FORMAT, "%s: it was removed meanwhile", m->path);
    if (fd < 0)
        return gt_error_errno(err, errno, "%s", m->path);
    int status = read_at(fd, m->path, data, n, at - m->begin, err);
    close(fd);
    return status;
}

int gt_compact_pread(const struct gt_compact_file *f, void *data, size_t n, uint64_t at,
                     struct gt_error *err)
{
    return f->n_members ? read_member(f, member_of(f, at), data, n, at, err)
                        : read_at(f->fd, f->path, data, n, at, err);
}

void gt_compact_file_head(uint8_t out[GT_COMPACT_FILE_HEAD])
{
    memset(out, 0, GT_COMPACT_FILE_HEAD);
    memcpy(out, MAGIC, MAGIC_SIZE);
    gt_bytes_put16(gt_bytes_put16(out + MAGIC_SIZE, GT_COMPACT_MAJOR), GT_COMPACT_MINOR);
}

int gt_compact_read_head(struct gt_compact_file *f, struct gt_error *err)
{
    uint8_t head[GT_COMPACT_FILE_HEAD];
    int status = gt_compact_pread(f, head, sizeof head, 0, err);
    if (status == GT_E_TRUNC || (status == 0 && memcmp(head, MAGIC, MAGIC_SIZE) != 0))
        return gt_error_set(err, GT_E_FORMAT, "%s: not a compact recording", f->path);
    if (status < 0)
        return status;
    unsigned major = gt_bytes_le16(head + MAGIC_SIZE);
    f->minor = gt_bytes_le16(head + MAGIC_SIZE + 2);
    if (major == GT_COMPACT_MAJOR)
        return 0;
    return gt_error_set(err, GT_E_UNSUPPORTED,
                        "%s: a compact recording of version %u.%u; this guesttrace reads version "
                        "%d.%d",
                        f->path, major, f->minor, GT_COMPACT_MAJOR, GT_COMPACT_MINOR);
}

/* ---- the list ------------------------------------------------------------------------------ */

bool gt_compact_add_block(struct gt_compact_file *f, const struct gt_compact_block *block)
{
    if (!GT_ARRAY_GROW(&f->block, &f->room, f->n + 1))
        return false;
    f->block[f->n++] = *block;
    f->whole = block->at + GT_COMPACT_HEAD + block->head.size;
    return true;
}

bool gt_compact_add_gap(struct gt_compact_file *f, uint64_t at, uint64_t size)
{
    if (!GT_ARRAY_GROW(&f->gap, &f->gaps_room, f->n_gaps + 1))
        return false;
    f->gap[f->n_gaps++] = (struct gt_compact_gap){at, size};
    return true;
}

/* ---- payloads ------------------------------------------------------------------------------ */

static bool same_head(const struct gt_compact_head *a, const struct gt_compact_head *b)
{
    return a->type == b->type && a->flags == b->flags && a->size == b->size &&
           a->packer == b->packer && a->records == b->records && a->first_time == b->first_time &&
           a->last_time == b->last_time && a->before == b->before;
}

int gt_compact_file_read(const struct gt_compact_file *f, size_t i, struct gt_compact_buffer *b,
                         const uint8_t **payload, struct gt_error *err)
{
    const struct gt_compact_block *block = &f->block[i];
    struct gt_compact_head head;
    uint64_t own;
    const char *path = gt_compact_file_place(f, block->at, &own);
    size_t size = GT_COMPACT_HEAD + block->head.size;
    if (b->room < size) {
        uint8_t *more = realloc(b->data, size);
        if (!more)
            return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", f->path);
        b->data = more;
        b->room = size;
    }
    int status = gt_compact_pread(f, b->data, size, block->at, err);
    *payload = b->data + GT_COMPACT_HEAD;
    if (status < 0)
        return status;
    if (gt_compact_head_read(b->data, size, &head) < 0 || !same_head(&head, &block->head))
        return gt_error_set(err, GT_E_FORMAT,
                            "%s: offset %" PRIu64 ": the block is not what the index says", path,
                            own);
    if (!gt_compact_head_fits(b->data, *payload, head.size))
        return gt_error_set(err, GT_E_FORMAT,
                            "%s: offset %" PRIu64 ": the block's checksum does not fit it", path,
                            own);
    return 0;
}

void gt_compact_buffer_free(struct gt_compact_buffer *b)
{
    free(b->data);
    *b = (struct gt_compact_buffer){0};
}
