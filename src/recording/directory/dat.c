/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the records of a TID.dat file in order: see dir.h. */
#include "base/array.h"
#include "base/refill.h"
#include "recording/directory/dir_internal.h"

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
    int status; /* of the first call that failed */
    struct gt_refill in;
    struct gt_error why;
    struct gt_skipped values; /* between the records */
};

enum { AHEAD = 64 << 10 }; /* bytes read at once */

static ssize_t read_file(void *self, void *out, size_t n)
{
    return read(((struct gt_uftrace_dat *)self)->fd, out, n);
}

int gt_uftrace_dat_open(const char *dir, uint32_t tid, struct gt_uftrace_dat **out,
                        struct gt_error *err)
{
    struct gt_uftrace_dat *dat = calloc(1, sizeof *dat);
    if (!dat)
        return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", dir);
    char path[GT_UFTRACE_FILE_MAX];
    snprintf(path, sizeof path, "%.4000s/%" PRIu32 ".dat", dir, tid);
    dat->fd = open(path, O_RDONLY | O_CLOEXEC);
    int status = dat->fd < 0 ? gt_error_errno(err, errno, "%s: cannot be opened", path)
                             : gt_refill_init(&dat->in, read_file, dat, path, AHEAD, err);
    if (status < 0)
        gt_uftrace_dat_close(dat);
    else
        *out = dat;
    return status;
}

static int next(struct gt_uftrace_dat *dat, struct gt_uftrace_record *out)
{
    int status = gt_refill_need(&dat->in, GT_UFTRACE_RECORD_LONGEST, &dat->why);
    if (status < 0)
        return status;
    struct gt_reader r;
    gt_reader_init(&r, gt_refill_at(&dat->in), gt_refill_left(&dat->in));
    status = gt_uftrace_record_take(&r, &dat->values, out);
    if (status < 0)
        return gt_error_set(&dat->why, status, "%.300s offset %" PRIu64 ": %s record", dat->in.name,
                            dat->in.offset, gt_status_text(status));
    gt_refill_take(&dat->in, gt_refill_left(&dat->in) - r.left);
    return status;
}

uint64_t gt_uftrace_dat_offset(const struct gt_uftrace_dat *dat)
{
    return dat->in.offset;
}

const char *gt_uftrace_dat_path(const struct gt_uftrace_dat *dat)
{
    return dat->in.name;
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
    if (dat->fd >= 0)
        close(dat->fd);
    gt_refill_free(&dat->in);
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
        if (tid && !GT_ARRAY_GROW(&list, &cap, n + 1))
            status = gt_error_set(err, GT_E_NOMEM, "%s: out of memory", dir);
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
