/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of a compact file: a packer's segments each. */
#include "calls/read/recording.h"

#include <inttypes.h>
#include <stdlib.h>

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
