/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the rows of a compact file: see reader.h. */
#include "calls/read/reader.h"
#include "calls/read/recording.h"
#include "recording/directory/uftrace.h"

#include <inttypes.h>
#include <stdlib.h>

/* The rows of a compact file: a packer's segments each. */

static void add_block(struct gt_calls *c, size_t number)
{
    const struct gt_compact_head *h = &c->file.block[number].head;
    c->block[c->n_blocks++] =
        (struct gt_calls_block){number, h->records, h->first_time, h->last_time, 0};
    c->facts.record_bytes += GT_COMPACT_HEAD + h->size;
}

/* The packer's records up to the end of the segment. */
static uint64_t end_of(const struct gt_calls *c, const struct gt_compact_segment *s)
{
    const struct gt_compact_head *h = &c->file.block[s->block[s->n - 1]].head;
    return h->before + h->records;
}

/* `before`: the packer's records up to the end of the segment before. */
static void add_part(struct gt_calls *c, const struct gt_compact_segment *s, uint32_t row,
                     uint64_t before)
{
    const struct gt_calls_part part = {.row = row,
                                       .block = c->n_blocks,
                                       .n_blocks = s->n,
                                       .gap = c->file.block[*s->block].head.before != before,
                                       .records = s->records,
                                       .first = s->first_time,
                                       .last = s->last_time};
    for (size_t i = 0; i < s->n; i++)
        add_block(c, s->block[i]);
    g_array_append_val(c->parts, part);
    c->facts.records += s->records;
    c->facts.first = MIN(c->facts.first, s->first_time);
    c->facts.last = MAX(c->facts.last, s->last_time);
}

static void end_row(struct gt_calls *c, size_t from)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = c->n_blocks; i-- > from;)
        c->block[i].least = least = MIN(least, c->block[i].first);
}

/* A packer's segments follow each other in their order. */
static gint compare_segments(gconstpointer a, gconstpointer b, gpointer segments)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const struct gt_compact_segment *s = segments;
    return s[x].packer != s[y].packer ? (s[x].packer < s[y].packer ? -1 : 1) : x < y ? -1 : x > y;
}

static void add_rows(struct gt_calls *c, const struct gt_compact_segments *s)
{
    g_autofree size_t *order = g_new(size_t, s->n + 1);
    for (size_t i = 0; i < s->n; i++)
        order[i] = i;
    g_qsort_with_data(order, (gint)s->n, sizeof *order, compare_segments, s->segment);
    for (size_t i = 0; i < s->n;) {
        const uint32_t packer = s->segment[order[i]].packer;
        size_t from = c->n_blocks;
        uint64_t before = 0;
        for (; i < s->n && s->segment[order[i]].packer == packer; i++) {
            add_part(c, &s->segment[order[i]], c->rows->len, before);
            before = end_of(c, &s->segment[order[i]]);
        }
        end_row(c, from);
        const struct gt_calls_row row = {packer, from, c->n_blocks - from, 0, 0};
        g_array_append_val(c->rows, row);
    }
}

int gt_calls_rows_of_file(struct gt_calls *c, struct gt_error *err)
{
    struct gt_compact_segments s;
    int status = gt_compact_segments_find(&c->file, &s);
    c->block = malloc((c->file.n + 1) * sizeof *c->block);
    c->facts.first = UINT64_MAX;
    if (status == 0 && c->block)
        add_rows(c, &s);
    else
        status = gt_error_set(err, GT_E_NOMEM, "%s: out of memory", c->path);
    if (status == 0 && s.orphans > 0) {
        c->facts.incomplete = true;
        gt_error_notice(gt_calls_notices_at_end(c),
                        "%s: %zu blocks with %" PRIu64
                        " records are left out: blocks before them, which "
                        "they need, are missing",
                        c->path, s.orphans, s.orphan_records);
    }
    gt_compact_segments_free(&s);
    c->facts.first = c->parts->len ? c->facts.first : 0;
    return status;
}

/* ---- reading -------------------------------------------------------------------------------- */

struct file_reader {
    struct gt_calls_feed *feed;
    struct gt_compact_buffer buffer;
    struct gt_compact_unpacker *unpacker;
    GArray *lanes; /* struct gt_calls_lane, by the task's number in the segment */
};

static void destroy(void *reader)
{
    struct file_reader *r = reader;
    if (!r)
        return;
    gt_compact_unpacker_destroy(r->unpacker);
    gt_compact_buffer_free(&r->buffer);
    g_array_free(r->lanes, TRUE);
    g_free(r);
}

static int create(struct gt_calls_feed *feed, void **out, struct gt_error *err)
{
    struct file_reader *r = *out = g_new0(struct file_reader, 1);
    r->feed = feed;
    r->lanes = g_array_new(FALSE, TRUE, sizeof(struct gt_calls_lane));
    if (gt_compact_unpacker_create(&r->unpacker) == 0)
        return 0;
    destroy(r);
    *out = NULL;
    return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", feed->c->path);
}

static uint64_t word(const void *self, uint32_t number)
{
    return gt_compact_unpacker_word(self, number);
}

static int begin(void *reader, const struct gt_calls_part *part, struct gt_error *err)
{
    struct file_reader *r = reader;
    (void)part;
    (void)err;
    g_array_set_size(r->lanes, 0);
    return 0;
}

/* What the task has open at the beginning of the segment. */
static int make_frames(struct file_reader *r, const struct gt_compact_piece *p,
                       struct gt_calls_lane *lane)
{
    GArray *frames = r->feed->frames;
    g_array_set_size(frames, 0);
    r->feed->task = lane->task;
    r->feed->time = p->event->time;
    lane->space = gt_calls_tasks_space(&r->feed->c->tasks, r->feed->c->spaces, lane->task,
                                       p->event->time, &lane->until);
    for (size_t i = 0; i < p->n_open; i++) {
        const uint32_t number = p->open[i].number;
        struct gt_call_frame f = {.begin = p->open[i].begin};
        f.function = gt_calls_feed_function(r->feed, lane->space, number,
                                            gt_compact_unpacker_word(r->unpacker, number));
        if (f.function == UINT32_MAX)
            return GT_E_NOMEM;
        g_array_append_val(frames, f);
    }
    gt_calls_feed_open(r->feed, lane, p->event->time, p->time);
    /* It was suspended: nothing comes between the two events of that. */
    if (p->time > 0 &&
        gt_compact_unpacker_is_event(r->unpacker, p->event, GT_UFTRACE_EV_SCHED_IN)) {
        const struct gt_call_frame f = {.begin = p->time, .function = GT_CALLS_SCHEDULE};
        g_array_append_val(frames, f);
    }
    return 0;
}

static int open_lane(struct file_reader *r, const struct gt_compact_piece *p,
                     struct gt_calls_lane *lane)
{
    struct gt_calls_feed *f = r->feed;
    lane->task = gt_calls_tasks_find(&f->c->tasks, p->task);
    if (lane->task == UINT32_MAX || (f->shown && !f->shown[lane->task]))
        return 0;
    int status = make_frames(r, p, lane);
    if (status < 0)
        return status;
    struct gt_calls_opening o = {
        .task = lane->task,
        .frame = (const struct gt_call_frame *)(const void *)f->frames->data,
        .n = f->frames->len,
        .time = p->time,
        .first = p->event->time,
        .forked = p->time == 0 && gt_calls_tasks_at(&f->c->tasks, lane->task)->parent != 0};
    if (o.forked && (p->event->sym & 3) == GT_COMPACT_OTHER)
        gt_calls_feed_inherit(f, &o, lane->space, p->event->time,
                              gt_compact_unpacker_word(r->unpacker, p->event->sym >> 2));
    lane->stack = f->open(f->self, &o);
    return lane->stack ? 0 : GT_E_NOMEM;
}

static int take_piece(void *self, const struct gt_compact_piece *p)
{
    struct file_reader *r = self;
    int status = 0;
    r->feed->n_words = gt_compact_unpacker_words(r->unpacker);
    if (p->first) {
        if (p->index >= r->lanes->len)
            g_array_set_size(r->lanes, p->index + 1);
        status = open_lane(r, p, &g_array_index(r->lanes, struct gt_calls_lane, p->index));
    }
    struct gt_calls_lane *lane = &g_array_index(r->lanes, struct gt_calls_lane, p->index);
    if (lane->task == UINT32_MAX)
        r->feed->unknown += p->n;
    if (status == 0 && lane->stack && !lane->stack->ended)
        status = p->values ? gt_calls_feed_take_valued(r->feed, lane, p->event, p->values)
                           : gt_calls_feed_take(r->feed, lane, p->event, p->n);
    return status > 0 ? GT_E_USAGE : status; /* the unpacker ends below 0 only; out has it */
}

static int read_block(void *reader, size_t i, struct gt_error *err)
{
    struct file_reader *r = reader;
    const struct gt_calls *c = r->feed->c;
    size_t number = c->block[i].number;
    const struct gt_compact_block *b = &c->file.block[number];
    const uint8_t *payload;
    struct gt_error why = {0};
    if (b->head.flags & GT_COMPACT_SEGMENT) {
        g_array_set_size(r->lanes, 0);
        gt_calls_feed_clear(r->feed);
    }
    r->feed->words_self = r->unpacker;
    r->feed->word = word;
    int status = gt_compact_file_read(&c->file, number, &r->buffer, &payload, err);
    if (status < 0)
        return status;
    status = gt_compact_unpacker_block(r->unpacker, &b->head, payload, take_piece, r, &why);
    if (r->feed->out->status != 0)
        return r->feed->out->status;
    if (status == GT_E_UNSUPPORTED)
        gt_error_set(&why, status, "a record has values, which compact recordings do not keep");
    if (status >= 0)
        return 0;
    uint64_t at;
    const char *path = gt_compact_file_place(&c->file, b->at, &at);
    return gt_error_set(err, status, "%s: offset %" PRIu64 ": %s", path, at,
                        *why.text ? why.text : "out of memory");
}

static uint64_t least(const void *reader, const struct gt_calls_part *part, size_t block)
{
    const struct file_reader *r = reader;
    (void)part;
    return r->feed->c->block[block].least;
}

const struct gt_calls_reader_kind gt_calls_reader_of_file = {create, destroy, begin, read_block,
                                                             least};
