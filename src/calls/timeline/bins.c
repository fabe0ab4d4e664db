/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Levels of a timeline: see bins.h. */
#include "calls/timeline/bins.h"

#include <stdlib.h>

bool gt_timeline_bins_init(struct gt_timeline_bins *l, size_t n_tasks)
{
    l->n_tasks = n_tasks;
    for (unsigned k = 0; k < l->n; k++) {
        l->level[k].blocks = g_ptr_array_new_with_free_func(g_free);
        l->level[k].places = g_array_new(FALSE, FALSE, sizeof(struct gt_timeline_bins_place));
        l->slices[k] = calloc(n_tasks + 1, sizeof *l->slices[k]);
        if (!l->slices[k])
            return false;
    }
    return true;
}

static void clear_level(struct gt_timeline_bins *l, unsigned k)
{
    for (size_t i = 0; l->slices[k] && i < l->n_tasks; i++)
        if (l->slices[k][i].slice)
            g_array_free(l->slices[k][i].slice, TRUE);
    free(l->slices[k]);
    l->slices[k] = NULL;
    gt_calls_pairs_clear(&l->level[k].find);
    if (l->level[k].blocks)
        g_ptr_array_free(l->level[k].blocks, TRUE);
    if (l->level[k].places)
        g_array_free(l->level[k].places, TRUE);
    l->level[k].blocks = NULL;
    l->level[k].places = NULL;
}

void gt_timeline_bins_clear(struct gt_timeline_bins *l)
{
    for (unsigned k = 0; k < l->n; k++)
        clear_level(l, k);
    *l = (struct gt_timeline_bins){0};
}

/* ---- adding -------------------------------------------------------------------------------- */

static uint64_t slices_of(const struct gt_timeline_bins *l, unsigned k)
{
    uint64_t n = 0;
    for (size_t i = 0; i < l->n_tasks; i++)
        n += l->slices[k][i].slice ? l->slices[k][i].slice->len : 0;
    return n;
}

static void drop_finest(struct gt_timeline_bins *l)
{
    l->cells -= (size_t)l->level[l->finest].blocks->len * GT_BINS_BLOCK;
    l->cells -= slices_of(l, l->finest);
    clear_level(l, l->finest++);
}

/* Room for more; false: there is none, even without the finest levels. */
static bool reserve(struct gt_timeline_bins *l, unsigned k, size_t n)
{
    while (l->cells + n > l->most && l->finest + 1 < l->n)
        drop_finest(l);
    if (l->cells + n > l->most || k < l->finest) {
        l->full |= k >= l->finest;
        return false;
    }
    l->cells += n;
    return true;
}

static uint64_t key_of(uint64_t block, uint32_t depth)
{
    return block * GT_TIMELINE_DEPTHS + depth;
}

/* NULL: no room. */
static struct gt_timeline_bins_cell *cell_of(struct gt_timeline_bins *l, unsigned k, uint32_t task,
                                             uint32_t depth, uint64_t bin)
{
    struct gt_timeline_bins_level *level = &l->level[k];
    const uint64_t key = key_of(bin / GT_BINS_BLOCK, depth);
    uint32_t number = gt_calls_pairs_get(&level->find, task, key);
    if (number == GT_PAIRS_NONE) {
        if (!reserve(l, k, GT_BINS_BLOCK))
            return NULL;
        number = level->blocks->len;
        if (!gt_calls_pairs_put(&level->find, task, key, number))
            return NULL;
        const struct gt_timeline_bins_place place = {key, task};
        g_ptr_array_add(level->blocks, g_new0(struct gt_timeline_bins_cell, GT_BINS_BLOCK));
        g_array_append_val(level->places, place);
    }
    return (struct gt_timeline_bins_cell *)level->blocks->pdata[number] + bin % GT_BINS_BLOCK;
}

static void weigh(struct gt_timeline_bins_cell *c, uint32_t function, float weight)
{
    const int least = c->weight[1] < c->weight[0];
    for (int i = 0; i < 2; i++)
        if (c->function[i] == function && c->weight[i] > 0) {
            c->weight[i] += weight;
            return;
        }
    if (weight > c->weight[least]) {
        c->function[least] = function;
        c->weight[least] = weight - c->weight[least];
    } else {
        c->weight[least] -= weight;
    }
}

void gt_timeline_bins_add_sum(struct gt_timeline_bins *l, const struct gt_timeline_bins_sum *s)
{
    for (unsigned k = l->finest; k < l->n; k++) {
        struct gt_timeline_bins_cell *c =
            cell_of(l, k, s->task, s->depth, s->bin >> (k * GT_TIMELINE_STEP));
        if (!c)
            continue;
        c->calls += s->calls;
        c->covered += (float)s->covered;
        /* a call that takes no time is seen, too */
        weigh(c, s->function[0], s->weight[0] ? (float)s->weight[0] : 1e-6f);
        if (s->weight[1])
            weigh(c, s->function[1], (float)s->weight[1]);
    }
}

/* A slice in the cells of a level whose bins are wider: one or two of them. */
static void add_part(struct gt_timeline_bins *l, unsigned k, uint32_t task,
                     const struct gt_timeline_slice *s)
{
    const unsigned exp = gt_timeline_bins_exp(l, k);
    uint64_t from = s->begin - l->first;
    const uint64_t to = from + s->duration;
    for (uint32_t calls = 1; calls || from < to; calls = 0) {
        const uint64_t bin = from >> exp, end = MIN(to, (bin + 1) << exp);
        struct gt_timeline_bins_cell *c = cell_of(l, k, task, s->depth, bin);
        if (!c)
            return;
        c->calls += calls;
        c->covered += (float)(end - from);
        weigh(c, s->function, (float)(end - from));
        from = end;
    }
}

void gt_timeline_bins_add_slice(struct gt_timeline_bins *l, uint32_t task,
                                const struct gt_timeline_slice *s)
{
    unsigned k = 0;
    while (k + 1 < l->n && s->duration >> gt_timeline_bins_exp(l, k + 1))
        k++;
    if (k >= l->finest && reserve(l, k, 1)) {
        struct gt_timeline_bins_slices *to = &l->slices[k][task];
        if (!to->slice)
            to->slice = g_array_new(FALSE, FALSE, sizeof *s);
        g_array_append_val(to->slice, *s);
        to->sorted = false;
    }
    for (unsigned up = MAX(k + 1, l->finest); up < l->n; up++)
        add_part(l, up, task, s);
}

/* ---- looking ------------------------------------------------------------------------------- */

static gint compare_slices(gconstpointer a, gconstpointer b)
{
    const struct gt_timeline_slice *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->depth < y->depth ? -1 : x->depth > y->depth;
}

/* The first slice that begins at `time` or later. */
static guint search(const GArray *a, uint64_t time)
{
    guint low = 0, high = a->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (g_array_index(a, struct gt_timeline_slice, middle).begin < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void gt_timeline_bins_slices(struct gt_timeline_bins *l, uint32_t task, unsigned level,
                             uint64_t from, uint64_t to, uint32_t depths,
                             const struct gt_timeline_sink *sink)
{
    for (unsigned k = level; k < l->n; k++) {
        struct gt_timeline_bins_slices *s = &l->slices[k][task];
        if (!s->slice)
            continue;
        if (!s->sorted)
            g_array_sort(s->slice, compare_slices);
        s->sorted = true;
        const uint64_t longest =
            k + 1 < l->n ? UINT64_C(1) << gt_timeline_bins_exp(l, k + 1) : UINT64_MAX;
        guint i = search(s->slice, from > longest ? from - longest : 0);
        for (; i < s->slice->len; i++) {
            const struct gt_timeline_slice *x =
                &g_array_index(s->slice, struct gt_timeline_slice, i);
            if (x->begin > to)
                break;
            if (x->begin + x->duration >= from && x->depth < depths)
                sink->slice(sink->self, x);
        }
    }
}

static void look_at_block(const struct gt_timeline_bins_cell *c, uint64_t block, uint32_t depth,
                          uint64_t bin, uint64_t bins, const struct gt_timeline_sink *sink)
{
    for (unsigned i = 0; i < GT_BINS_BLOCK; i++) {
        const uint64_t at = block * GT_BINS_BLOCK + i;
        if (at < bin || at - bin >= bins || (c[i].calls == 0 && c[i].covered == 0))
            continue;
        const struct gt_timeline_cell cell = {
            .bin = at,
            .function = c[i].function[c[i].weight[1] > c[i].weight[0]],
            .calls = c[i].calls,
            .covered = (uint64_t)c[i].covered,
            .depth = (uint16_t)depth,
        };
        sink->cell(sink->self, &cell);
    }
}

static gint compare_places(gconstpointer a, gconstpointer b)
{
    const struct gt_timeline_bins_place *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* In a long time most blocks are not there: those that are, in order. */
static void look_at_all(const struct gt_timeline_bins_level *x, uint32_t task, uint64_t bin,
                        uint64_t bins, uint32_t depths, const struct gt_timeline_sink *sink)
{
    g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(struct gt_timeline_bins_place));
    for (guint i = 0; i < x->places->len; i++) {
        const struct gt_timeline_bins_place *p =
            &g_array_index(x->places, struct gt_timeline_bins_place, i);
        const struct gt_timeline_bins_place found = {p->key,
                                                     i}; /* its number instead of the task */
        if (p->task == task)
            g_array_append_val(places, found);
    }
    g_array_sort(places, compare_places);
    for (guint i = 0; i < places->len; i++) {
        const struct gt_timeline_bins_place *p =
            &g_array_index(places, struct gt_timeline_bins_place, i);
        const uint32_t depth = p->key % GT_TIMELINE_DEPTHS;
        if (depth < depths)
            look_at_block(x->blocks->pdata[p->task], p->key / GT_TIMELINE_DEPTHS, depth, bin, bins,
                          sink);
    }
}

void gt_timeline_bins_cells(const struct gt_timeline_bins *l, uint32_t task, unsigned level,
                            uint64_t bin, uint64_t bins, uint32_t depths,
                            const struct gt_timeline_sink *sink)
{
    const struct gt_timeline_bins_level *x = &l->level[level];
    const uint64_t last = (bin + bins - 1) / GT_BINS_BLOCK;
    if (bins / GT_BINS_BLOCK > x->places->len) {
        look_at_all(x, task, bin, bins, depths, sink);
        return;
    }
    for (uint32_t depth = 0; depth < depths; depth++)
        for (uint64_t block = bin / GT_BINS_BLOCK; block <= last; block++) {
            uint32_t number = gt_calls_pairs_get(&x->find, task, key_of(block, depth));
            if (number != GT_PAIRS_NONE)
                look_at_block(x->blocks->pdata[number], block, depth, bin, bins, sink);
        }
}
