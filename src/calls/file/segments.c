/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The segments of a recording in one file, and its words: see file.h. */
#include "calls/file/column.h"
#include "calls/file/model.h"
#include "calls/file/parts.h"
#include "calls/file/words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- segments ------------------------------------------------------------------------------ */

/* A RECORDS block. */
struct part {
    uint32_t packer;
    size_t i;
};

static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->packer != y->packer)
        return x->packer < y->packer ? -1 : 1;
    return x->i < y->i ? -1 : x->i > y->i;
}

static int compare_segments(const void *a, const void *b)
{
    const struct gt_compact_segment *x = a, *y = b;
    return *x->block < *y->block ? -1 : *x->block > *y->block;
}

static void add_to(struct gt_compact_segment *s, const struct gt_compact_head *h)
{
    s->first_time = h->first_time < s->first_time ? h->first_time : s->first_time;
    s->last_time = h->last_time > s->last_time ? h->last_time : s->last_time;
    s->records += h->records;
    s->n++;
}

/* Blocks by packer, in order, into segments. */
static void join(const struct gt_compact_file *f, const struct part *part, size_t n,
                 struct gt_compact_segments *out)
{
    struct gt_compact_segment *s = NULL; /* the one at hand */
    uint64_t before = 0;
    uint32_t packer = 0;
    for (size_t k = 0; k < n; k++) {
        const struct gt_compact_head *h = &f->block[part[k].i].head;
        out->block[k] = part[k].i;
        if (h->flags & GT_COMPACT_SEGMENT) {
            s = &out->segment[out->n++];
            *s = (struct gt_compact_segment){
                .packer = h->packer, .block = &out->block[k], .first_time = UINT64_MAX};
        } else if (!s || packer != h->packer || before != h->before) {
            s = NULL;
            out->orphans++;
            out->orphan_records += h->records;
            continue;
        }
        add_to(s, h);
        packer = h->packer;
        before = h->before + h->records;
    }
}

int gt_compact_segments_find(const struct gt_compact_file *f, struct gt_compact_segments *out)
{
    size_t n = 0, segments = 0;
    bool sorted = true;
    struct part *part = calloc(f->n + 1, sizeof *part);
    for (size_t i = 0; i < f->n && part; i++) {
        const struct gt_compact_head *h = &f->block[i].head;
        if (h->type != GT_COMPACT_RECORDS)
            continue;
        sorted = sorted && (n == 0 || part[n - 1].packer <= h->packer);
        segments += h->flags & GT_COMPACT_SEGMENT ? 1 : 0;
        part[n++] = (struct part){h->packer, i};
    }
    *out = (struct gt_compact_segments){.segment = calloc(segments + 1, sizeof *out->segment),
                                        .block = calloc(n + 1, sizeof *out->block)};
    if (!part || !out->segment || !out->block) {
        free(part);
        gt_compact_segments_free(out);
        return GT_E_NOMEM;
    }
    if (!sorted)
        qsort(part, n, sizeof *part, compare_parts);
    join(f, part, n, out);
    if (!sorted)
        qsort(out->segment, out->n, sizeof *out->segment, compare_segments);
    free(part);
    return 0;
}

void gt_compact_segments_free(struct gt_compact_segments *s)
{
    free(s->segment);
    free(s->block);
    *s = (struct gt_compact_segments){0};
}

int gt_compact_segment_unpack(const struct gt_compact_file *f, const struct gt_compact_segment *s,
                              struct gt_compact_unpacker *u,
                              int (*piece)(void *self, const struct gt_compact_piece *p),
                              void *self, struct gt_error *err)
{
    struct gt_compact_buffer buffer = {0};
    struct gt_error why = {0};
    int status = 0;
    for (size_t i = 0; i < s->n && status >= 0; i++) {
        const struct gt_compact_block *block = &f->block[s->block[i]];
        const uint8_t *payload;
        status = gt_compact_file_read(f, s->block[i], &buffer, &payload, err);
        if (status < 0)
            break;
        status = gt_compact_unpacker_block(u, &block->head, payload, piece, self, &why);
        if (status < 0 && why.status == status) {
            uint64_t at;
            const char *path = gt_compact_file_place(f, block->at, &at);
            gt_error_set(err, status, "%s: offset %" PRIu64 ": %s", path, at, why.text);
        }
    }
    gt_compact_buffer_free(&buffer);
    return status < 0 ? status : 0;
}

/* ---- words --------------------------------------------------------------------------------- */

/* Those that have been seen: open addressing, a power of two; 0 is free. */
struct seen {
    uint64_t *word;
    size_t n, room;
    bool zero; /* 0 has been seen */
};

struct collect {
    const struct gt_compact_file *f;
    struct gt_compact_buffer buffer;
    ZSTD_DCtx *zstd;
    uint8_t *bytes; /* of the column */
    size_t room;
    struct seen seen;
    uint64_t last; /* word of the segment */
    int (*word)(void *self, uint64_t word);
    void *self;
};

static uint64_t *find(const struct seen *s, uint64_t word)
{
    size_t i = gt_compact_words_hash(word) & (s->room - 1);
    while (s->word[i] && s->word[i] != word)
        i = (i + 1) & (s->room - 1);
    return &s->word[i];
}

static bool grow(struct seen *s)
{
    struct seen more = {.room = s->room ? 2 * s->room : 4096, .n = s->n, .zero = s->zero};
    more.word = calloc(more.room, sizeof *more.word);
    if (!more.word)
        return false;
    for (size_t i = 0; i < s->room; i++)
        if (s->word[i])
            *find(&more, s->word[i]) = s->word[i];
    free(s->word);
    *s = more;
    return true;
}

/* 1: for the first time, 0, GT_E_NOMEM. */
static int note(struct seen *s, uint64_t word)
{
    if (word == 0) {
        int first = !s->zero;
        s->zero = true;
        return first;
    }
    if (2 * s->n >= s->room && !grow(s))
        return GT_E_NOMEM;
    uint64_t *slot = find(s, word);
    if (*slot)
        return 0;
    *slot = word;
    s->n++;
    return 1;
}

/* Unpacks the column of words of a block. GT_E_FORMAT, GT_E_NOMEM. */
static int open_words(struct collect *c, const struct gt_compact_head *h, const uint8_t *payload,
                      struct gt_compact_column_in *words)
{
    struct gt_compact_column_in in = {payload, payload + h->size, false};
    struct gt_compact_column_part part;
    int status = 0;
    if (!(h->flags & GT_COMPACT_EXACT))
        gt_compact_column_take(&in); /* how many columns there are */
    for (unsigned i = 0; i <= GT_COLUMN_WORDS && status == 0; i++)
        status = gt_compact_column_find(&in, &part);
    if (status < 0)
        return status;
    if (c->room <= part.size) {
        free(c->bytes);
        c->room = part.size + 1;
        c->bytes = malloc(c->room);
    }
    if (!c->bytes) {
        c->room = 0;
        return GT_E_NOMEM;
    }
    return gt_compact_column_unpack(&part, c->zstd, c->bytes, words);
}

/* The words of a block. 1: it is damaged. */
static int collect_block(struct collect *c, size_t i, struct gt_error *err)
{
    const uint8_t *payload = NULL;
    struct gt_compact_column_in words;
    int status = gt_compact_file_read(c->f, i, &c->buffer, &payload, err);
    if (status == 0)
        status = open_words(c, &c->f->block[i].head, payload, &words);
    if (status < 0)
        return status == GT_E_FORMAT || status == GT_E_TRUNC ? 1 : status;
    while (words.at < words.end && status >= 0) {
        c->last += (uint64_t)gt_compact_unzigzag(gt_compact_column_take(&words));
        if (words.bad)
            return 1;
        status = note(&c->seen, c->last);
        if (status > 0)
            status = c->word(c->self, c->last);
    }
    return status < 0 ? status : 0;
}

/* The words of a segment, up to the first damage: those after it are not known. */
static int collect_segment(struct collect *c, const struct gt_compact_segment *s,
                           struct gt_error *err)
{
    int status = 0;
    c->last = 0;
    for (size_t k = 0; k < s->n && status == 0; k++)
        status = collect_block(c, s->block[k], err);
    return status;
}

int gt_compact_file_words(const struct gt_compact_file *f, int (*word)(void *self, uint64_t word),
                          void *self, struct gt_error *err)
{
    struct gt_compact_segments s;
    struct collect c = {.f = f, .word = word, .self = self};
    int status = gt_compact_segments_find(f, &s);
    c.zstd = ZSTD_createDCtx();
    if (!c.zstd)
        status = GT_E_NOMEM;
    for (size_t i = 0; i < s.n && status >= 0; i++)
        status = collect_segment(&c, &s.segment[i], err);
    if (status == GT_E_NOMEM)
        gt_error_set(err, status, "%s: out of memory", f->path);
    ZSTD_freeDCtx(c.zstd);
    free(c.bytes);
    gt_compact_buffer_free(&c.buffer);
    free(c.seen.word);
    gt_compact_segments_free(&s);
    return status < 0 ? status : 0;
}
