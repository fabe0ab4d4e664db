/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings in several files: see set.h. */
#include "calls/file/set.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/number.h"
#include "calls/file/parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAYLOAD = 24 };

/* ---- a part -------------------------------------------------------------------------------- */

static struct gt_compact_part part_in(const uint8_t payload[PAYLOAD])
{
    return (struct gt_compact_part){gt_bytes_le64(payload), gt_bytes_le32(payload + 8),
                                    gt_bytes_le64(payload + 16)};
}

/* Takes a block off the list, of which a gap is left. */
static int drop_block(struct gt_compact_file *f, size_t i)
{
    const struct gt_compact_block b = f->block[i];
    size_t n = f->n_gaps, to = n;
    if (!gt_compact_add_gap(f, b.at, GT_COMPACT_HEAD + b.head.size))
        return GT_E_NOMEM;
    for (; to > 0 && f->gap[to - 1].at > b.at; to--)
        f->gap[to] = f->gap[to - 1];
    f->gap[to] = (struct gt_compact_gap){b.at, GT_COMPACT_HEAD + b.head.size};
    f->index_gaps += to < f->index_gaps || i < f->index_blocks;
    f->index_blocks -= i < f->index_blocks;
    memmove(f->block + i, f->block + i + 1, (--f->n - i) * sizeof *f->block);
    return 0;
}

int gt_compact_part_read(struct gt_compact_file *f, struct gt_compact_part *out,
                         struct gt_error *err)
{
    const uint8_t *p;
    *out = (struct gt_compact_part){0};
    for (size_t i = 0; i < f->n; i++) {
        if (f->block[i].head.type != GT_COMPACT_PART || f->block[i].head.size < PAYLOAD)
            continue;
        int status = gt_compact_file_payload(f, i, &p, err);
        if (status == 0)
            *out = part_in(p);
        if (status == GT_E_FORMAT && drop_block(f, i) == 0)
            return 1;
        return status;
    }
    return 0;
}

struct gt_compact_part gt_compact_part_of(int fd)
{
    uint8_t block[GT_COMPACT_HEAD + PAYLOAD];
    struct gt_compact_head head;
    bool good = pread(fd, block, sizeof block, GT_COMPACT_FILE_HEAD) == sizeof block &&
                gt_compact_head_fits(block, block + GT_COMPACT_HEAD, PAYLOAD) &&
                gt_compact_head_read(block, sizeof block, &head) == 0;
    if (!good || head.type != GT_COMPACT_PART || head.size != PAYLOAD)
        return (struct gt_compact_part){0};
    return part_in(block + GT_COMPACT_HEAD);
}

struct gt_compact_part gt_compact_part_at(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct gt_compact_part part = {0};
    if (fd >= 0) {
        part = gt_compact_part_of(fd);
        close(fd);
    }
    return part;
}

int gt_compact_part_create(const char *path, const struct gt_compact_part *part,
                           struct gt_error *err)
{
    uint8_t block[GT_COMPACT_HEAD + PAYLOAD] = {0}, *p = block + GT_COMPACT_HEAD;
    const struct gt_compact_head head = {.type = GT_COMPACT_PART, .size = PAYLOAD};
    gt_bytes_put64(p, part->set);
    gt_bytes_put32(p + 8, part->number);
    gt_bytes_put64(p + 16, part->limit);
    gt_compact_head_write(block, &head, p);
    int status = gt_compact_file_create(path, err);
    if (status == 0 && (status = gt_compact_file_append(path, block, sizeof block, err)) < 0)
        unlink(path);
    return status;
}

/* ---- names --------------------------------------------------------------------------------- */

int gt_compact_part_path(const char *file, uint32_t number, char out[GT_COMPACT_PART_PATH])
{
    int n = snprintf(out, GT_COMPACT_PART_PATH, "%s.%" PRIu32, file, number);
    return n < GT_COMPACT_PART_PATH ? 0 : GT_E_RANGE;
}

/* As gt_compact_part_path() writes it; 0: none. */
static uint32_t parse_number(const char *text)
{
    uint64_t n;
    bool good = *text >= '1' && *text <= '9' && strspn(text, "0123456789") == strlen(text);
    return good && gt_text_number_parse(text, &n) == 0 && n <= UINT32_MAX ? (uint32_t)n : 0;
}

bool gt_compact_part_is_named(const char *path, uint32_t number)
{
    const char *dot = strrchr(path, '.');
    return dot && parse_number(dot + 1) == number;
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

int64_t gt_compact_set_list(const char *file, uint32_t **out, struct gt_error *err)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
    size_t length = strlen(base), n = 0, room = 0;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - file) + 1 : 1,
             slash ? file : ".");
    *out = NULL;
    DIR *d = opendir(folder);
    if (!d)
        return gt_error_errno(err, errno, "%s", folder);
    for (const struct dirent *e; (e = readdir(d));) {
        uint32_t number = strncmp(e->d_name, base, length) == 0 && e->d_name[length] == '.'
                              ? parse_number(e->d_name + length + 1)
                              : 0;
        if (!number)
            continue;
        if (!GT_ARRAY_GROW(out, &room, n + 1)) {
            closedir(d);
            free(*out);
            *out = NULL;
            return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", file);
        }
        (*out)[n++] = number;
    }
    closedir(d);
    if (n)
        qsort(*out, n, sizeof **out, compare);
    return (int64_t)n;
}

struct gt_compact_part gt_compact_set_highest(const char *file)
{
    char path[GT_COMPACT_PART_PATH];
    struct gt_compact_part part = {0};
    uint32_t *number = NULL;
    int64_t n = gt_compact_set_list(file, &number, NULL);
    if (n > 0 && gt_compact_part_path(file, number[n - 1], path) == 0)
        part = gt_compact_part_at(path);
    if (n > 0 && part.number != number[n - 1])
        part = (struct gt_compact_part){0};
    free(number);
    return part;
}

static uint64_t size_of(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

static bool is_part_of(const char *path, uint64_t set)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool own = fd >= 0 && gt_compact_part_of(fd).set == set;
    if (fd >= 0)
        close(fd);
    return own;
}

bool gt_compact_set_shorten(const char *file, uint64_t set, uint32_t keep, uint64_t room,
                            uint64_t limit)
{
    char path[GT_COMPACT_PART_PATH];
    uint32_t *number = NULL;
    uint64_t sum = size_of(file) + room;
    int64_t n = gt_compact_set_list(file, &number, NULL);
    for (int64_t i = 0; i < n; i++)
        if (gt_compact_part_path(file, number[i], path) == 0)
            sum += size_of(path);
    for (int64_t i = 0; i < n && sum > limit; i++) {
        if (number[i] == keep || gt_compact_part_path(file, number[i], path) < 0)
            continue;
        uint64_t size = size_of(path);
        if (is_part_of(path, set) && unlink(path) == 0)
            sum -= size;
    }
    free(number);
    return sum <= limit;
}

int gt_compact_set_size(const char *path, uint64_t *size)
{
    char part[GT_COMPACT_PART_PATH];
    struct stat st;
    uint32_t *number = NULL;
    const struct gt_compact_part own = gt_compact_part_at(path);
    if (stat(path, &st) != 0)
        return GT_E_NOT_FOUND;
    *size = (uint64_t)st.st_size;
    int64_t n = own.number ? gt_compact_set_list(path, &number, NULL) : 0;
    for (int64_t i = 0; i < n; i++)
        if (gt_compact_part_path(path, number[i], part) == 0 &&
            gt_compact_part_at(part).set == own.set && stat(part, &st) == 0)
            *size += (uint64_t)st.st_size;
    free(number);
    return n < 0 ? (int)n : 0;
}

/* ---- opening all --------------------------------------------------------------------------- */

/* Appends a file's blocks and gaps to the set's, which begin at `begin`. */
static bool add_blocks(struct gt_compact_file *set, const struct gt_compact_file *f)
{
    const uint64_t begin = set->size;
    for (size_t i = 0; i < f->n; i++) {
        struct gt_compact_block b = f->block[i];
        b.at += begin;
        if (!gt_compact_add_block(set, &b))
            return false;
    }
    for (size_t i = 0; i < f->n_gaps; i++)
        if (!gt_compact_add_gap(set, begin + f->gap[i].at, f->gap[i].size))
            return false;
    return true;
}

static bool has_texts(const struct gt_compact_file *f)
{
    for (size_t i = f->n; i-- > 0;)
        if (f->block[i].head.type == GT_COMPACT_FILE)
            return true;
    return false;
}

/* Takes `f`, which is closed but for the last part's descriptor. */
static int add_part(struct gt_compact_file *set, struct gt_compact_file *f, uint32_t number,
                    bool last, struct gt_error *err)
{
    const size_t own = set->n;
    struct gt_compact_member m = {.path = strdup(f->path), .number = number, .begin = set->size};
    bool good = m.path && GT_ARRAY_GROW(&set->member, &set->members_room, set->n_members + 1);
    if (good)
        set->member[set->n_members++] = m;
    else
        free(m.path);
    good = good && add_blocks(set, f);
    if (has_texts(f))
        set->own = own;
    set->size += f->size;
    if (last) {
        set->fd = f->fd;
        set->minor = f->minor;
        f->fd = -1;
    }
    gt_compact_file_close(f);
    return good ? 0 : gt_error_set(err, GT_E_NOMEM, "%s: out of memory", set->path);
}

static bool is_same_file(const struct gt_compact_file *a, const struct gt_compact_file *b)
{
    struct stat x, y;
    return fstat(a->fd, &x) == 0 && fstat(b->fd, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

/* FILE.NUMBER, unless it is `last` itself, or one that was begun after that was opened. */
static int add_sibling(struct gt_compact_file *set, uint32_t number,
                       const struct gt_compact_file *last, struct gt_error *err)
{
    char path[GT_COMPACT_PART_PATH];
    struct gt_compact_file f;
    struct gt_compact_part part;
    int status = gt_compact_part_path(set->path, number, path);
    if (status == 0)
        status = gt_compact_file_open(path, &f, err);
    if (status < 0) /* removed meanwhile */
        return status == GT_E_NOT_FOUND || status == GT_E_RANGE ? 0 : status;
    status = gt_compact_part_read(&f, &part, err);
    if (status == 1) { /* its name says which part it is */
        part = (struct gt_compact_part){.set = set->part.set, .number = number};
        status = 0;
    }
    bool later = is_same_file(&f, last) || number >= set->part.number;
    if (status == 0 && (part.set != set->part.set || part.number != number))
        status = gt_error_set(err, GT_E_FORMAT,
                              "%s: not part %" PRIu32 " of the recording %s; move it to "
                              "another folder",
                              path, number, set->path);
    if (status == 0 && !later)
        return add_part(set, &f, number, false, err);
    gt_compact_file_close(&f);
    return status;
}

static int add_all(struct gt_compact_file *set, struct gt_compact_file *last, struct gt_error *err)
{
    uint32_t *number = NULL;
    int64_t n = gt_compact_set_list(set->path, &number, err);
    int status = n < 0 ? (int)n : 0;
    for (int64_t i = 0; i < n && status == 0; i++)
        status = add_sibling(set, number[i], last, err);
    free(number);
    if (status == 0)
        status = add_part(set, last, set->part.number, true, err);
    return status;
}

/* The newest part; where FILE is missing, the one with the highest number. */
static int open_newest(const char *path, struct gt_compact_file *out, struct gt_error *err)
{
    char part[GT_COMPACT_PART_PATH];
    int status = gt_compact_file_open(path, out, err);
    if (status != GT_E_NOT_FOUND)
        return status;
    const struct gt_compact_part highest = gt_compact_set_highest(path);
    if (highest.number && gt_compact_part_path(path, highest.number, part) == 0)
        status = gt_compact_file_open(part, out, err);
    return status;
}

int gt_compact_set_open(const char *path, struct gt_compact_file *out, struct gt_error *err)
{
    struct gt_compact_file last;
    struct gt_compact_part part;
    int status = open_newest(path, &last, err);
    if (status < 0) {
        *out = (struct gt_compact_file){.fd = -1};
        return status;
    }
    status = gt_compact_part_read(&last, &part, err);
    if (status == 1) { /* the one after the others */
        part = gt_compact_set_highest(path);
        part.number += part.number > 0;
        status = 0;
    }
    if (status == 0 && (part.number == 0 || gt_compact_part_is_named(path, part.number))) {
        last.part = part;
        *out = last;
        return 0;
    }
    *out = (struct gt_compact_file){.fd = -1, .path = strdup(path), .part = part};
    if (status == 0 && !out->path)
        status = gt_error_set(err, GT_E_NOMEM, "%s: out of memory", path);
    if (status == 0)
        status = add_all(out, &last, err);
    gt_compact_file_close(&last);
    if (status < 0)
        gt_compact_file_close(out);
    return status;
}
