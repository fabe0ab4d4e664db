/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of a directory: a task's file each, in blocks of some thousand records. */
#include "base/bytes.h"
#include "calls/read/record_specs.h"
#include "calls/read/recording.h"
#include "recording/directory/dir.h"
#include "recording/directory/skipped.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_RECORDS = 16384, /* of a block */
    LEAST_RECORDS = 256,
    AHEAD_RECORDS = 1 << 20, /* of one block of each file together */
};

/* True where records may have values between them. */
static bool has_values(const struct gt_calls *c)
{
    return c->info.feat_mask &
           (GT_UFTRACE_FEAT_ARGUMENT | GT_UFTRACE_FEAT_RETVAL | GT_UFTRACE_FEAT_AUTO_ARGS);
}

static const struct gt_value_spec *spec_at(void *self, uint64_t time, uint64_t word)
{
    return gt_calls_record_specs_at(self, time, word);
}

/* Counts the records of a file with values. An errno value. */
static int scan_values(const struct gt_calls *c, int fd, size_t size, struct gt_calls_part *part,
                       struct gt_calls_row *row)
{
    struct gt_calls_record_specs *specs = gt_calls_record_specs_create(c, row->id);
    const struct gt_uftrace_skipped_known known = {spec_at, NULL, specs};
    struct gt_uftrace_skipped_scan scan;
    void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    int e = errno;
    if (data != MAP_FAILED)
        gt_uftrace_skipped_scan(data, size, &known, &scan);
    gt_calls_record_specs_destroy(specs);
    if (data == MAP_FAILED)
        return e;
    munmap(data, size);
    part->records = scan.records;
    part->last = scan.last;
    row->size = scan.whole;
    return 0;
}

/* Counts the file's records. An errno value. */
static int measure(const struct gt_calls *c, int fd, size_t size, struct gt_calls_part *part,
                   struct gt_calls_row *row)
{
    uint8_t data[8];
    row->size = size - size % GT_UFTRACE_RECORD_SIZE;
    part->records = row->size / GT_UFTRACE_RECORD_SIZE;
    if (part->records == 0)
        return 0;
    if (pread(fd, data, sizeof data, 0) != sizeof data)
        return EIO;
    part->first = gt_bytes_le64(data);
    if (has_values(c))
        return scan_values(c, fd, size, part, row);
    if (pread(fd, data, sizeof data, (off_t)(row->size - GT_UFTRACE_RECORD_SIZE)) != sizeof data)
        return EIO;
    part->last = gt_bytes_le64(data);
    return 0;
}

static int add_file(struct gt_calls *c, uint32_t tid, struct gt_error *err)
{
    struct stat st = {0};
    struct gt_calls_part part = {.row = c->rows->len};
    struct gt_calls_row row = {.id = tid};
    g_autofree char *path = g_strdup_printf("%s/%u.dat", c->path, tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    gt_calls_tasks_add(&c->tasks, tid);
    int e = fd < 0 || fstat(fd, &st) != 0 ? errno : measure(c, fd, (size_t)st.st_size, &part, &row);
    if (fd >= 0)
        close(fd);
    if (e != 0)
        return gt_error_errno(err, e, "%s", path);
    if ((size_t)st.st_size > row.size) {
        c->facts.incomplete = true;
        gt_error_notice(gt_calls_notices_at_end(c),
                        "%s: offset %zu: a record is incomplete; it is left out", path, row.size);
    }
    c->facts.record_bytes += (uint64_t)st.st_size;
    if (part.records == 0)
        return 0;
    g_array_append_val(c->rows, row);
    g_array_append_val(c->parts, part);
    c->facts.records += part.records;
    c->facts.first = MIN(c->facts.first, part.first);
    c->facts.last = MAX(c->facts.last, part.last);
    return 0;
}

/* Blocks are as long as memory for one of each file allows. The times of blocks come when they are
 * read: times in a file do not fall. */
static int make_blocks(struct gt_calls *c, struct gt_error *err)
{
    size_t records = AHEAD_RECORDS / (c->rows->len + 1);
    records = CLAMP(records, LEAST_RECORDS, MOST_RECORDS);
    for (guint i = 0; i < c->rows->len; i++) {
        struct gt_calls_row *row = &g_array_index(c->rows, struct gt_calls_row, i);
        struct gt_calls_part *part = &g_array_index(c->parts, struct gt_calls_part, i);
        row->block = part->block = c->n_blocks;
        row->n_blocks = part->n_blocks = (part->records + records - 1) / records;
        c->n_blocks += row->n_blocks;
    }
    c->block = calloc(c->n_blocks + 1, sizeof *c->block);
    if (!c->block)
        return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", c->path);
    for (guint i = 0; i < c->rows->len; i++) {
        const struct gt_calls_row *row = &g_array_index(c->rows, struct gt_calls_row, i);
        const struct gt_calls_part *part = &g_array_index(c->parts, struct gt_calls_part, i);
        struct gt_calls_block *b = &c->block[row->block];
        for (size_t k = 0; k < row->n_blocks; k++)
            b[k].records = MIN(records, part->records - k * records);
    }
    return 0;
}

int gt_calls_rows_of_directory(struct gt_calls *c, struct gt_error *err)
{
    g_autofree uint32_t *tids = NULL;
    int64_t n = gt_uftrace_dat_list(c->path, &tids, err);
    int status = n < 0 ? (int)n : 0;
    c->facts.first = UINT64_MAX;
    for (int64_t i = 0; i < n && status == 0; i++)
        status = add_file(c, tids[i], err);
    c->facts.first = c->rows->len ? c->facts.first : 0;
    return status < 0 ? status : make_blocks(c, err);
}
