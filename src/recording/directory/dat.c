/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records of a TID.dat file: their layout, reading them in order, the calls that are open at
 * the end. See dir.h. */
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
    struct gt_bytes_refill in;
    struct gt_error why;
    struct gt_uftrace_skipped values; /* between the records */
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
                             : gt_bytes_refill_init(&dat->in, read_file, dat, path, AHEAD, err);
    if (status < 0)
        gt_uftrace_dat_close(dat);
    else
        *out = dat;
    return status;
}

static int next(struct gt_uftrace_dat *dat, struct gt_uftrace_record *out)
{
    int status = gt_bytes_refill_need(&dat->in, GT_UFTRACE_RECORD_LONGEST, &dat->why);
    if (status < 0)
        return status;
    struct gt_bytes_reader r;
    gt_bytes_reader_init(&r, gt_bytes_refill_at(&dat->in), gt_bytes_refill_left(&dat->in));
    status = gt_uftrace_record_take(&r, &dat->values, out);
    if (status < 0)
        return gt_error_set(&dat->why, status, "%.300s offset %" PRIu64 ": %s record", dat->in.name,
                            dat->in.offset, gt_error_status_text(status));
    gt_bytes_refill_take(&dat->in, gt_bytes_refill_left(&dat->in) - r.left);
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
    gt_bytes_refill_free(&dat->in);
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

/* Scans a TID.dat file for the calls that are open at its end. */

static int push(struct gt_uftrace_scan *s, size_t *room, uint64_t word)
{
    if (s->n_open == GT_UFTRACE_SCAN_DEPTH)
        return GT_E_RANGE;
    if (!GT_ARRAY_GROW(&s->open, room, s->n_open + 1))
        return GT_E_NOMEM;
    s->open[s->n_open++] = word;
    if (s->n_open > s->depth)
        s->depth = s->n_open;
    return 0;
}

static void note_event(struct gt_uftrace_scan *s, uint64_t id)
{
    s->lost_event = id == GT_UFTRACE_EV_LOST;
    if (id == GT_UFTRACE_EV_SCHED_IN || id == GT_UFTRACE_EV_SCHED_OUT)
        s->scheduled_out = id == GT_UFTRACE_EV_SCHED_OUT;
}

int gt_uftrace_scan_step(struct gt_uftrace_scan *s, size_t *room,
                         const struct gt_uftrace_record *rec, const char **expected)
{
    int status = 0;
    if (rec->time < s->last_time) {
        *expected = "a time that does not fall";
        return GT_E_FORMAT;
    }
    uint64_t exit = gt_uftrace_exit(rec->depth, rec->addr);
    if (rec->type == GT_UFTRACE_ENTRY) {
        *expected = "fewer open calls";
        s->lost_event = false;
        status = push(s, room, exit);
    } else if (rec->type == GT_UFTRACE_EXIT) {
        *expected = "an EXIT of the innermost open call";
        if (!s->n_open || s->open[s->n_open - 1] != exit)
            return GT_E_FORMAT;
        s->n_open--;
    } else if (rec->type == GT_UFTRACE_EVENT) {
        note_event(s, rec->addr);
    }
    if (status)
        return status;
    if (!s->records++)
        s->first_time = rec->time;
    s->last_time = rec->time;
    return 0;
}

int gt_uftrace_scan(const void *data, size_t size, struct gt_uftrace_scan *out,
                    struct gt_error *err)
{
    struct gt_uftrace_scan s = {0};
    struct gt_uftrace_record rec;
    struct gt_bytes_reader r;
    struct gt_uftrace_skipped values = {0};
    const char *expected = "a record";
    size_t room = 0;
    int status;
    gt_bytes_reader_init(&r, data, size);
    while ((status = gt_uftrace_record_take(&r, &values, &rec)) == 1) {
        status = gt_uftrace_scan_step(&s, &room, &rec, &expected);
        if (status)
            break;
        s.whole = size - r.left;
        expected = "a record";
    }
    if (status == 0 || status == GT_E_TRUNC) {
        *out = s;
        return 0;
    }
    free(s.open);
    return gt_error_set(err, status, "offset %" PRIu64 ": %s, expected %s", s.whole,
                        gt_error_status_text(status), expected);
}

/*
 * One record of a TID.dat file: u64 time, then u64 of type (2 bits), more (1), magic 5 (3),
 * depth (10), address (48).
 */

enum { MORE_SHIFT = 2, MAGIC_SHIFT = 3, MAGIC = 5, DEPTH_SHIFT = 6, ADDR_SHIFT = 16 };

int gt_uftrace_record_read(struct gt_bytes_reader *r, bool with_more, struct gt_uftrace_record *out)
{
    if (!r->left)
        return 0;
    if (r->left < GT_UFTRACE_RECORD_SIZE)
        return GT_E_TRUNC;
    uint64_t time = gt_bytes_read_u64(r);
    uint64_t word = gt_bytes_read_u64(r);
    bool more = word >> MORE_SHIFT & 1;
    if ((word >> MAGIC_SHIFT & 7) != MAGIC || time == 0 || (more && !with_more))
        return GT_E_FORMAT;
    *out = (struct gt_uftrace_record){
        .time = time,
        .addr = word >> ADDR_SHIFT,
        .depth = word >> DEPTH_SHIFT & GT_UFTRACE_DEPTH_MASK,
        .type = word & 3,
        .more = more,
    };
    return 1;
}

/* Bytes that follow an event's record; 0: not an event with a payload. */
static size_t payload(const struct gt_uftrace_record *rec)
{
    if (rec->type != GT_UFTRACE_EVENT)
        return 0;
    if (rec->addr == GT_UFTRACE_EV_PMU_CYCLE_BEGIN || rec->addr == GT_UFTRACE_EV_PMU_CYCLE_END)
        return 16;
    return rec->addr == GT_UFTRACE_EV_WATCH_CPU ? 8 : 0;
}

/* Takes the values of a call's record, up to the next one. Those that end the file may be cut:
 * whole ones have a multiple of 8 bytes. */
static int take_values(struct gt_bytes_reader *r, const struct gt_uftrace_skipped *values,
                       uint64_t time)
{
    if (r->left < 8)
        return GT_E_TRUNC;
    size_t n = gt_uftrace_skipped_size(values, r->at, r->left, time);
    if (n == SIZE_MAX)
        return GT_E_FORMAT;
    return n % 8 == 0 && gt_bytes_read_bytes(r, n) ? 1 : GT_E_TRUNC;
}

static int take_payload(struct gt_bytes_reader *r, const struct gt_uftrace_record *rec)
{
    size_t extra = payload(rec);
    if (!extra)
        return GT_E_FORMAT;
    return gt_bytes_read_bytes(r, extra) ? 1 : GT_E_TRUNC;
}

int gt_uftrace_record_take(struct gt_bytes_reader *r, struct gt_uftrace_skipped *values,
                           struct gt_uftrace_record *out)
{
    struct gt_bytes_reader at = *r;
    int status = gt_uftrace_record_read(&at, true, out);
    if (status != 1)
        return status;
    gt_uftrace_skipped_note(values, gt_uftrace_word(out->type & 3, out->depth, out->addr));
    if (out->more)
        status = out->type == GT_UFTRACE_EVENT ? take_payload(&at, out)
                                               : take_values(&at, values, out->time);
    if (status == 1)
        *r = at;
    return status;
}

void gt_uftrace_record_write(struct gt_bytes_writer *w, const struct gt_uftrace_record *rec)
{
    gt_bytes_write_u64(w, rec->time);
    gt_bytes_write_u64(
        w, gt_uftrace_word((enum gt_uftrace_type)(rec->type & 3), rec->depth, rec->addr) |
               (uint64_t)rec->more << MORE_SHIFT);
}
