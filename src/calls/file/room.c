/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Room that is left: see room.h. */
#include "calls/file/room.h"

#include "calls/file/gather.h"
#include "calls/file/parts.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    AT_END = 4 << 10,     /* bytes that texts and an index get when the recording ends, */
    AT_END_EACH = 1 << 9, /* and one more for so many */
    TEXT_HEAD = 512,      /* a text file's block has so many more than the file, at most */
    SHARE = 4,            /* a block has that part of the rest */
    LEAST_BLOCK = 4 << 10,
    TRIES = 3,      /* a text file may be replaced meanwhile */
    MORE_WORDS = 4, /* a new function's names may have so many times what the others have */
};

static uint64_t size_of(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static uint64_t at_most(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- text files ---------------------------------------------------------------------------- */

/* What they take without being packed. */
static uint64_t raw_texts(const char *dir)
{
    struct stat st;
    uint64_t sum = 0;
    DIR *d = opendir(dir);
    for (const struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.' && fstatat(dirfd(d), e->d_name, &st, 0) == 0 && S_ISREG(st.st_mode))
            sum += (uint64_t)st.st_size + (uint64_t)st.st_size / 128 + TEXT_HEAD;
    if (d)
        closedir(d);
    return sum;
}

static void measure(struct gt_compact_room *r, uint64_t raw, uint64_t words)
{
    uint64_t bytes;
    int status = GT_E_IO;
    r->measured_words = 0;
    for (int tries = 0; tries < TRIES && status < 0; tries++)
        status = gt_compact_gather_size(r->dir, r->file, &bytes, NULL);
    if (status < 0)
        return;
    r->measured = bytes;
    r->measured_raw = raw;
    r->measured_words = words ? words : 1;
}

/* No less than they take, by the last measurement. */
static uint64_t texts_at_most(const struct gt_compact_room *r, uint64_t raw, uint64_t words)
{
    if (!r->measured_words)
        return raw;
    uint64_t more = words > r->measured_words ? words - r->measured_words : 0;
    uint64_t texts = r->measured + (r->measured * more / r->measured_words + more) * MORE_WORDS;
    texts += raw > r->measured_raw ? raw - r->measured_raw : 0;
    return at_most(texts, raw);
}

/* Bytes that a file of that size leaves for text files. False: it is beyond the limit itself. */
static bool leaves(const struct gt_compact_room *r, uint64_t size, uint64_t *left)
{
    size += AT_END + size / AT_END_EACH;
    *left = size < r->total ? r->total - size : 0;
    return size <= r->total;
}

/* ---- blocks -------------------------------------------------------------------------------- */

static uint64_t limit_leaves(struct gt_compact_room *r, int fd, uint64_t words)
{
    uint64_t left, raw = raw_texts(r->dir);
    leaves(r, size_of(fd), &left);
    if (size_of(fd) != r->size)
        r->measured_words = 0;
    if (texts_at_most(r, raw, words) > left / 2 &&
        (r->measured_words != words || r->measured_raw != raw))
        measure(r, raw, words);
    uint64_t texts = texts_at_most(r, raw, words);
    return texts < left ? left - texts : 0;
}

static uint64_t system_leaves(int fd)
{
    struct statvfs fs;
    struct rlimit limit;
    uint64_t left = UINT64_MAX, size = size_of(fd);
    if (fstatvfs(fd, &fs) == 0)
        left = (uint64_t)fs.f_bavail * fs.f_frsize;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        left = at_most(left, limit.rlim_cur > size ? limit.rlim_cur - size : 0);
    return left;
}

uint64_t gt_compact_room_for_block(struct gt_compact_room *r, int fd, uint64_t words)
{
    uint64_t left = system_leaves(fd);
    if (r->total)
        left = at_most(left, limit_leaves(r, fd, words));
    return left / SHARE > LEAST_BLOCK ? left / SHARE : LEAST_BLOCK;
}

/* With the block in the file it is known which functions ran. */
static int append_and_measure(struct gt_compact_room *r, int fd, const void *block, size_t size,
                              uint64_t raw, uint64_t words)
{
    const uint64_t before = size_of(fd);
    uint64_t left;
    int e = gt_compact_append_fd(fd, block, size);
    if (e)
        return e;
    measure(r, raw, words);
    leaves(r, before + size, &left);
    if (r->measured_words && r->measured <= left)
        return 0;
    return ftruncate(fd, (off_t)before) == 0 ? EFBIG : errno;
}

int gt_compact_room_append(struct gt_compact_room *r, int fd, const void *block, size_t size,
                           uint64_t words)
{
    uint64_t left, raw = r->total ? raw_texts(r->dir) : 0;
    int e;
    if (r->total && !leaves(r, size_of(fd) + size, &left))
        return EFBIG;
    if (!r->total || texts_at_most(r, raw, words) <= left)
        e = gt_compact_append_fd(fd, block, size);
    else
        e = append_and_measure(r, fd, block, size, raw, words);
    r->size = size_of(fd);
    return e;
}
