/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of a compact file: a packer's blocks each. */
#include "analysis/calls/recording.h"

#include <inttypes.h>
#include <stdlib.h>

static gint compare_blocks(gconstpointer a, gconstpointer b, gpointer file)
{
    size_t x = ((const struct gt_calls_block *)a)->number;
    size_t y = ((const struct gt_calls_block *)b)->number;
    const struct gt_compact_block *block = ((const struct gt_compact_file *)file)->block;
    uint32_t p = block[x].head.packer, q = block[y].head.packer;
    return p != q ? (p < q ? -1 : 1) : x < y ? -1 : x > y;
}

static int list_blocks(struct gt_calls *c, struct gt_error *err)
{
    bool ordered = true;
    uint32_t before = 0;
    c->block = malloc((c->file.n + 1) * sizeof *c->block);
    if (!c->block)
        return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", c->path);
    for (size_t i = 0; i < c->file.n; i++) {
        const struct gt_compact_head *h = &c->file.block[i].head;
        if (h->type != GT_COMPACT_RECORDS || h->records == 0)
            continue;
        ordered = ordered && h->packer >= before;
        before = h->packer;
        c->block[c->n_blocks++] =
            (struct gt_calls_block){i, h->records, h->first_time, h->last_time, 0};
        c->facts.record_bytes += GT_COMPACT_HEAD + h->size;
    }
    if (!ordered)
        g_qsort_with_data(c->block, (gint)c->n_blocks, sizeof *c->block, compare_blocks, &c->file);
    return 0;
}

static const struct gt_compact_head *head_of(const struct gt_calls *c, size_t i)
{
    return &c->file.block[c->block[i].number].head;
}

/* The parts of the row: what comes before its first segment cannot be read. */
static void add_parts(struct gt_calls *c, size_t from, size_t end)
{
    struct gt_calls_part *part = NULL;
    for (size_t i = from; i < end; i++) {
        const struct gt_calls_block *b = &c->block[i];
        if (head_of(c, i)->flags & GT_COMPACT_SEGMENT) {
            const struct gt_calls_part new = {.row = c->rows->len, .block = i, .first = UINT64_MAX};
            g_array_append_val(c->parts, new);
            part = &g_array_index(c->parts, struct gt_calls_part, c->parts->len - 1);
        }
        if (!part) {
            gt_notice(&c->notices,
                      "%s: offset %" PRIu64
                      ": the beginning of its segment is missing; its %" PRIu64
                      " records are left out",
                      c->path, c->file.block[b->number].at, b->records);
            continue;
        }
        part->n_blocks++;
        part->records += b->records;
        part->first = MIN(part->first, b->first);
        part->last = MAX(part->last, b->last);
    }
}

static void add_row(struct gt_calls *c, size_t from, size_t end)
{
    guint parts = c->parts->len;
    uint64_t least = UINT64_MAX;
    for (size_t i = end; i-- > from;)
        c->block[i].least = least = MIN(least, c->block[i].first);
    add_parts(c, from, end);
    if (c->parts->len == parts)
        return;
    size_t first = g_array_index(c->parts, struct gt_calls_part, parts).block;
    const struct gt_calls_row row = {head_of(c, from)->packer, first, end - first, 0};
    g_array_append_val(c->rows, row);
}

int gt_rows_of_file(struct gt_calls *c, struct gt_error *err)
{
    int status = list_blocks(c, err);
    for (size_t i = 0, end; i < c->n_blocks && status == 0; i = end) {
        for (end = i; end < c->n_blocks && head_of(c, end)->packer == head_of(c, i)->packer; end++)
            continue;
        add_row(c, i, end);
    }
    c->facts.first = UINT64_MAX;
    for (guint i = 0; i < c->parts->len; i++) {
        const struct gt_calls_part *p = &g_array_index(c->parts, struct gt_calls_part, i);
        c->facts.records += p->records;
        c->facts.first = MIN(c->facts.first, p->first);
        c->facts.last = MAX(c->facts.last, p->last);
    }
    c->facts.first = c->parts->len ? c->facts.first : 0;
    return status;
}
