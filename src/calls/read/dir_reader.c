/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the rows of a directory: see reader.h. Records get numbers as the unpacker gives them: one
 * for each address. */
#include "base/bytes.h"
#include "calls/read/pairs.h"
#include "calls/read/reader.h"
#include "calls/read/record_specs.h"
#include "calls/read/recording.h"
#include "recording/directory/dir.h"
#include "recording/directory/skipped.h"
#include "recording/directory/uftrace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The rows of a directory: a task's file each, in blocks of some thousand records. */

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

/* ---- reading -------------------------------------------------------------------------------- */

enum { AT_ONCE = 256, MAGIC = 5 << 3, MAGIC_MASK = 7 << 3, MORE = 1 << 2 };

struct dir_reader {
    struct gt_calls_feed *feed;
    uint32_t tid;
    const uint8_t *data;
    size_t size;
    size_t at; /* offset of the next record */
    struct gt_uftrace_skipped values;
    struct gt_calls_record_specs *specs;
    struct gt_calls_lane lane;
    struct gt_calls_pairs numbers; /* of words: by kind and word */
    GArray *words;                 /* uint64_t, by number */
    struct gt_compact_event event[AT_ONCE];
    struct gt_value_list list; /* of the last event */
    bool has_list;
};

static void unmap(struct dir_reader *r)
{
    if (r->data)
        munmap((void *)(uintptr_t)r->data, r->size);
    r->data = NULL;
}

static void destroy(void *reader)
{
    struct dir_reader *r = reader;
    if (!r)
        return;
    unmap(r);
    gt_calls_record_specs_destroy(r->specs);
    gt_calls_pairs_clear(&r->numbers);
    g_array_free(r->words, TRUE);
    g_free(r);
}

static int create(struct gt_calls_feed *feed, void **out, struct gt_error *err)
{
    (void)err;
    struct dir_reader *r = *out = g_new0(struct dir_reader, 1);
    r->feed = feed;
    r->words = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    return 0;
}

static uint64_t word_of(const void *self, uint32_t number)
{
    return g_array_index(((const struct dir_reader *)self)->words, uint64_t, number);
}

static int map_file(struct dir_reader *r, size_t size, struct gt_error *err)
{
    g_autofree char *path = g_strdup_printf("%s/%u.dat", r->feed->c->path, r->tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC), status = 0;
    void *data = fd < 0 ? MAP_FAILED : mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        status = gt_error_errno(err, errno, "%s", path);
    else
        r->data = data;
    r->size = size;
    if (fd >= 0)
        close(fd);
    return status;
}

static int begin(void *reader, const struct gt_calls_part *part, struct gt_error *err)
{
    struct dir_reader *r = reader;
    struct gt_calls_feed *f = r->feed;
    const struct gt_calls_row *row = &g_array_index(f->c->rows, struct gt_calls_row, part->row);
    unmap(r);
    r->tid = row->id;
    r->lane = (struct gt_calls_lane){.task = gt_calls_tasks_find(&f->c->tasks, row->id)};
    gt_calls_feed_clear(f);
    gt_calls_pairs_clear(&r->numbers);
    g_array_set_size(r->words, 0);
    r->at = row->from;
    r->values = (struct gt_uftrace_skipped){0};
    gt_calls_record_specs_destroy(r->specs);
    r->specs = gt_calls_record_specs_create(f->c, row->id);
    if (f->shown && !f->shown[r->lane.task])
        return 0;
    int status = map_file(r, row->size, err);
    if (status < 0)
        return status;
    gt_calls_feed_open(f, &r->lane, gt_bytes_le64(r->data + r->at), 0);
    struct gt_calls_opening o = {
        .task = r->lane.task, .forked = gt_calls_tasks_at(&f->c->tasks, r->lane.task)->parent != 0};
    if (o.forked)
        gt_calls_feed_inherit(f, &o, r->lane.space, gt_bytes_le64(r->data + r->at),
                              gt_bytes_le64(r->data + r->at + 8));
    r->lane.stack = f->open(f->self, &o);
    return r->lane.stack ? 0 : gt_error_set(err, GT_E_NOMEM, "%s: out of memory", f->c->path);
}

/* The number of a word; entries and exits have the same. */
static uint32_t number_of(struct dir_reader *r, unsigned kind, uint64_t word)
{
    if (kind == GT_COMPACT_EXIT)
        kind = GT_COMPACT_ENTRY;
    uint32_t number = gt_calls_pairs_get(&r->numbers, kind, word);
    if (__builtin_expect(number != GT_PAIRS_NONE, 1))
        return number;
    number = r->words->len;
    g_array_append_val(r->words, word);
    return gt_calls_pairs_put(&r->numbers, kind, word, number) ? number : GT_PAIRS_NONE;
}

/* The next record. */
static bool make_event(struct dir_reader *r, struct gt_compact_event *out)
{
    static const uint8_t kinds[] = {GT_COMPACT_ENTRY, GT_COMPACT_EXIT, GT_COMPACT_OTHER,
                                    GT_COMPACT_EVENT};
    const uint8_t *at = r->data + r->at;
    const uint64_t word = gt_bytes_le64(at + 8) & ~(uint64_t)MORE;
    unsigned kind = (word & MAGIC_MASK) == MAGIC ? kinds[word & 3] : GT_COMPACT_OTHER;
    uint32_t number = number_of(r, kind, kind == GT_COMPACT_OTHER ? word : word >> 16);
    *out = (struct gt_compact_event){gt_bytes_le64(at), number << 2 | kind,
                                     (uint32_t)(word >> 6) & GT_UFTRACE_DEPTH_MASK};
    r->at += GT_UFTRACE_RECORD_SIZE;
    gt_uftrace_skipped_note(&r->values, word);
    return number < 1u << 30;
}

/* Reads the values of the record at `begin`. The bytes that they have, or SIZE_MAX. */
static size_t read_values(struct dir_reader *r, size_t begin)
{
    const uint64_t time = gt_bytes_le64(r->data + begin), word = gt_bytes_le64(r->data + begin + 8);
    const struct gt_uftrace_record record = gt_uftrace_record_of(time, word);
    size_t bytes =
        gt_uftrace_skipped_take(&r->values, gt_calls_record_specs_at(r->specs, time, word), &record,
                                r->data + r->at, r->size - r->at, &r->list);
    r->has_list = bytes != SIZE_MAX && r->list.n > 0;
    return bytes;
}

/* Up to `most` records, up to the file's end, or to one whose values are known; returns how many.
 */
static int64_t make_events(struct dir_reader *r, uint64_t most, struct gt_error *err)
{
    const struct gt_calls *c = r->feed->c;
    size_t n = 0;
    r->has_list = false;
    while (n < AT_ONCE && n < most && !r->has_list && r->size - r->at >= GT_UFTRACE_RECORD_SIZE) {
        const size_t begin = r->at;
        const uint64_t word = gt_bytes_le64(r->data + begin + 8);
        if (!make_event(r, &r->event[n]))
            return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", c->path);
        if (gt_uftrace_skipped_follow(word)) {
            size_t values = read_values(r, begin);
            if (values == SIZE_MAX)
                return gt_error_set(err, GT_E_FORMAT,
                                    "%s/%u.dat: offset %zu: no record follows the values of this "
                                    "one",
                                    c->path, r->tid, begin);
            r->at += values;
        }
        n++;
    }
    return (int64_t)n;
}

static int take_events(struct dir_reader *r, size_t n)
{
    struct gt_calls_feed *f = r->feed;
    size_t plain = r->has_list ? n - 1 : n;
    int status = plain ? gt_calls_feed_take(f, &r->lane, r->event, plain) : 0;
    if (status == 0 && r->has_list && !r->lane.stack->ended)
        status = gt_calls_feed_take_valued(f, &r->lane, &r->event[plain], &r->list);
    return status;
}

static int read_block(void *reader, size_t i, struct gt_error *err)
{
    struct dir_reader *r = reader;
    struct gt_calls_feed *f = r->feed;
    int status = 0;
    f->words_self = r;
    f->word = word_of;
    for (uint64_t left = f->c->block[i].records; left > 0 && status == 0 && r->lane.stack;) {
        int64_t n = make_events(r, left, err);
        if (n <= 0)
            return (int)n;
        left -= (uint64_t)n;
        f->n_words = r->words->len;
        if (!r->lane.stack->ended)
            status = take_events(r, (size_t)n);
    }
    if (f->out->status != 0)
        return f->out->status;
    return status < 0 ? gt_error_set(err, status, "%s: out of memory", f->c->path) : 0;
}

static uint64_t least(const void *reader, const struct gt_calls_part *part, size_t block)
{
    const struct dir_reader *r = reader;
    (void)block; /* it is the next one */
    return r->data && r->size - r->at >= GT_UFTRACE_RECORD_SIZE ? gt_bytes_le64(r->data + r->at)
                                                                : part->last;
}

const struct gt_calls_reader_kind gt_calls_reader_of_directory = {create, destroy, begin,
                                                                  read_block, least};
