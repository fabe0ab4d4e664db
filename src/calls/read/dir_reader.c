/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the rows of a directory: see reader.h. Records get numbers as the unpacker gives them: one
 * for each address. */
#include "base/bytes.h"
#include "calls/read/pairs.h"
#include "calls/read/reader.h"
#include "calls/read/record_specs.h"
#include "recording/directory/skipped.h"
#include "recording/directory/uftrace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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
