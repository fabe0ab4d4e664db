/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the records of a TID.dat file in order: see dir.h. */
#include "format/uftrace/dir_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct gt_uftrace_dat {
    int fd;
    int status;      /* of the first call that failed */
    uint64_t offset; /* of the next record */
    struct gt_reader left;
    struct gt_error why;
    char path[GT_UFTRACE_FILE_MAX];
    uint8_t buf[65536];
};

int gt_uftrace_dat_open(const char *dir, uint32_t tid, struct gt_uftrace_dat **out,
                        struct gt_error *err)
{
    struct gt_uftrace_dat *dat = calloc(1, sizeof *dat);
    if (!dat)
        return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", dir);
    gt_reader_init(&dat->left, dat->buf, 0);
    snprintf(dat->path, sizeof dat->path, "%.4000s/%" PRIu32 ".dat", dir, tid);
    dat->fd = open(dat->path, O_RDONLY | O_CLOEXEC);
    if (dat->fd < 0) {
        int status = gt_error_errno(err, errno, "%s: cannot be opened", dat->path);
        free(dat);
        return status;
    }
    *out = dat;
    return 0;
}

/* Moves what is left to the front and reads more after it. */
static int fill(struct gt_uftrace_dat *dat)
{
    size_t left = dat->left.left;
    memmove(dat->buf, dat->left.at, left);
    while (left < sizeof dat->buf) {
        ssize_t n = read(dat->fd, dat->buf + left, sizeof dat->buf - left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return gt_error_errno(&dat->why, errno, "%.300s: cannot be read", dat->path);
        if (!n)
            break;
        left += (size_t)n;
    }
    gt_reader_init(&dat->left, dat->buf, left);
    return 0;
}

static int next(struct gt_uftrace_dat *dat, struct gt_uftrace_record *out)
{
    int status = dat->left.left < GT_UFTRACE_RECORD_LONGEST ? fill(dat) : 0;
    if (status)
        return status;
    size_t before = dat->left.left;
    status = gt_uftrace_record_take(&dat->left, out);
    if (status < 0)
        return gt_error_set(&dat->why, status, "%.300s offset %" PRIu64 ": %s record", dat->path,
                            dat->offset, gt_status_text(status));
    dat->offset += before - dat->left.left;
    return status;
}

uint64_t gt_uftrace_dat_offset(const struct gt_uftrace_dat *dat)
{
    return dat->offset;
}

const char *gt_uftrace_dat_path(const struct gt_uftrace_dat *dat)
{
    return dat->path;
}

int gt_uftrace_dat_next(struct gt_uftrace_dat *dat, struct gt_uftrace_record *out,
                        struct gt_error *err)
{
    int status = dat->status ? dat->status : next(dat, out);
    if (status < 0) {
        dat->status = status;
        if (err)
            *err = dat->why;
    }
    return status;
}

void gt_uftrace_dat_close(struct gt_uftrace_dat *dat)
{
    if (!dat)
        return;
    close(dat->fd);
    free(dat);
}

/* The tid of "<tid>.dat", 0 for any other name. */
static uint32_t tid_of(const char *name)
{
    char *end;
    if (*name < '1' || *name > '9')
        return 0;
    errno = 0;
    unsigned long v = strtoul(name, &end, 10);
    return !errno && v <= INT32_MAX && !strcmp(end, ".dat") ? (uint32_t)v : 0;
}

static int by_tid(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

int64_t gt_uftrace_dat_list(const char *dir, uint32_t **tids, struct gt_error *err)
{
    DIR *handle = opendir(dir);
    if (!handle)
        return gt_error_errno(err, errno, "%s: cannot be opened", dir);
    size_t n = 0, cap = 0;
    uint32_t *list = NULL;
    const struct dirent *e;
    int status = 0;
    while (!status && (e = readdir(handle))) {
        uint32_t tid = tid_of(e->d_name);
        if (tid && n == cap) {
            cap = cap ? cap * 2 : 64;
            uint32_t *more = realloc(list, cap * sizeof *list);
            if (!more)
                status = gt_error_set(err, GT_E_NOMEM, "%s: out of memory", dir);
            else
                list = more;
        }
        if (tid && !status)
            list[n++] = tid;
    }
    closedir(handle);
    if (status) {
        free(list);
        return status;
    }
    if (n)
        qsort(list, n, sizeof *list, by_tid);
    *tids = list;
    return (int64_t)n;
}
