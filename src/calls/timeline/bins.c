/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Levels of a timeline: see bins.h. */
#include "calls/timeline/bins.h"

#include "base/search.h"

#include <stdlib.h>

enum {
    MOST_BINS = 1 << 22,  /* of a level: a key has room for them */
    MOST_OPEN = 32 << 10, /* depths of all tasks with open cells */
};
_Static_assert((uint64_t)MOST_BINS *GT_TIMELINE_DEPTHS == UINT64_C(1) << 32, "a key is 32 bits");

struct open_cells {
    struct gt_timeline_bins_open level[GT_TIMELINE_LEVELS];
};

static void free_open(gpointer cells)
{
    if (cells)
        g_array_free(cells, TRUE);
}

bool gt_timeline_bins_init(struct gt_timeline_bins *l, size_t n_tasks)
{
    l->n_tasks = n_tasks;
    l->open = g_ptr_array_new_with_free_func(free_open);
    g_ptr_array_set_size(l->open, (gint)n_tasks);
    for (unsigned k = 0; k < l->n; k++) {
        l->list[k] = calloc(n_tasks + 1, sizeof *l->list[k]);
        if (!l->list[k])
            return false;
    }
    return true;
}

static void clear_level(struct gt_timeline_bins *l, unsigned k)
{
    for (size_t i = 0; l->list[k] && i < l->n_tasks; i++) {
        struct gt_timeline_bins_list *list = &l->list[k][i];
        l->cells -= (list->cell ? list->cell->len : 0) + (list->slice ? list->slice->len : 0);
        if (list->cell)
            g_array_free(list->cell, TRUE);
        if (list->slice)
            g_array_free(list->slice, TRUE);
    }
    free(l->list[k]);
    l->list[k] = NULL;
}

void gt_timeline_bins_clear(struct gt_timeline_bins *l)
{
    for (unsigned k = 0; k < l->n; k++)
        clear_level(l, k);
    if (l->open)
        g_ptr_array_free(l->open, TRUE);
    *l = (struct gt_timeline_bins){0};
}

/* ---- adding -------------------------------------------------------------------------------- */

/* Room for one more; false: there is none, even without the finest levels. */
static bool reserve(struct gt_timeline_bins *l, unsigned k)
{
    while (l->cells >= l->most && l->finest + 1 < l->n)
        clear_level(l, l->finest++);
    if (l->cells >= l->most || k < l->finest) {
        l->full |= k >= l->finest;
        return false;
    }
    l->cells++;
    return true;
}

/* Bins count ns of a recording, and more than 2^54 of them are 208 days. */
static uint64_t key_of(uint64_t bin, uint32_t depth)
{
    return bin * GT_TIMELINE_DEPTHS + depth;
}

static uint64_t key_at(const struct gt_timeline_bins_cell *c)
{
    return (uint64_t)c->high << 32 | c->low;
}

static void keep_cell(struct gt_timeline_bins *l, unsigned k, uint32_t task, uint32_t depth,
                      const struct gt_timeline_bins_open *c)
{
    if (!reserve(l, k))
        return;
    struct gt_timeline_bins_list *list = &l->list[k][task];
    const uint64_t key = key_of(c->bin, depth);
    const struct gt_timeline_bins_cell cell = {
        .high = (uint32_t)(key >> 32),
        .low = (uint32_t)key,
        .function = c->function[c->weight[1] > c->weight[0]],
        .calls = c->calls,
        .covered = c->covered,
    };
    if (!list->cell)
        list->cell = g_array_new(FALSE, FALSE, sizeof cell);
    g_array_append_val(list->cell, cell);
    list->cells_sorted = false;
}

static void weigh(struct gt_timeline_bins_open *c, uint32_t function, float weight)
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

/* Adds a part, of one bin of level k, to the open cells of its task and depth. */
static void add(struct gt_timeline_bins *l, struct gt_timeline_bins_open *open, unsigned k,
                uint32_t task, uint32_t depth, struct gt_timeline_bins_open part)
{
    for (; k < l->n; k++) {
        struct gt_timeline_bins_open *c = &open[k], full = *c;
        if (!full.used || full.bin != part.bin)
            *c = part;
        else {
            c->calls += part.calls;
            c->covered += part.covered;
            for (int i = 0; i < 2; i++)
                if (part.weight[i] > 0)
                    weigh(c, part.function[i], part.weight[i]);
        }
        if (!full.used || full.bin == part.bin)
            return;
        keep_cell(l, k, task, depth, &full);
        part = full;
        part.bin >>= GT_TIMELINE_STEP;
    }
}

/* Puts a task's open cells into its lists: they are opened again when more comes. */
static void close_cells(struct gt_timeline_bins *l, uint32_t task)
{
    GArray *cells = l->open->pdata[task];
    for (guint depth = 0; cells && depth < cells->len; depth++) {
        struct gt_timeline_bins_open *open = g_array_index(cells, struct open_cells, depth).level;
        for (unsigned k = 0; k < l->n; k++) {
            struct gt_timeline_bins_open full = open[k];
            if (!full.used)
                continue;
            open[k].used = false;
            keep_cell(l, k, task, depth, &full);
            full.bin >>= GT_TIMELINE_STEP;
            add(l, open, k + 1, task, depth, full);
        }
    }
}

/* Recordings may have tasks by the thousand, of which few run at a time. */
static void close_all(struct gt_timeline_bins *l)
{
    for (uint32_t task = 0; task < l->n_tasks; task++) {
        close_cells(l, task);
        free_open(l->open->pdata[task]);
        l->open->pdata[task] = NULL;
    }
    l->n_open = 0;
}

static struct gt_timeline_bins_open *open_cells(struct gt_timeline_bins *l, uint32_t task,
                                                uint32_t depth)
{
    if (l->n_open > MOST_OPEN)
        close_all(l);
    GArray *cells = l->open->pdata[task];
    if (!cells)
        cells = l->open->pdata[task] = g_array_new(FALSE, TRUE, sizeof(struct open_cells));
    if (cells->len <= depth) {
        l->n_open += depth + 1 - cells->len;
        g_array_set_size(cells, depth + 1);
    }
    return g_array_index(cells, struct open_cells, depth).level;
}

void gt_timeline_bins_add_sum(struct gt_timeline_bins *l, const struct gt_timeline_bins_sum *s)
{
    if (s->bin - l->bin >= l->bins)
        return;
    const struct gt_timeline_bins_open part = {
        .bin = s->bin,
        .function = {s->function[0], s->function[1]},
        /* a call that takes no time is seen, too */
        .weight = {s->weight[0] ? (float)s->weight[0] : 1e-6f, (float)s->weight[1]},
        .covered = (float)s->covered,
        .calls = s->calls,
        .used = true,
    };
    add(l, open_cells(l, s->task, s->depth), 0, s->task, s->depth, part);
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
        const struct gt_timeline_bins_open part = {.bin = bin,
                                                   .function = {s->function},
                                                   .weight = {MAX((float)(end - from), 1e-6f)},
                                                   .covered = (float)(end - from),
                                                   .calls = calls,
                                                   .used = true};
        add(l, open_cells(l, task, s->depth), k, task, s->depth, part);
        from = end;
    }
}

void gt_timeline_bins_add_slice(struct gt_timeline_bins *l, uint32_t task,
                                const struct gt_timeline_slice *s)
{
    unsigned k = 0;
    while (k + 1 < l->n && s->duration >> gt_timeline_bins_exp(l, k + 1))
        k++;
    if (reserve(l, k)) {
        struct gt_timeline_bins_list *to = &l->list[k][task];
        if (!to->slice)
            to->slice = g_array_new(FALSE, FALSE, sizeof *s);
        g_array_append_val(to->slice, *s);
        to->slices_sorted = false;
    }
    if (k + 1 < l->n)
        add_part(l, k + 1, task, s);
}

/* ---- looking ------------------------------------------------------------------------------- */

static gint compare_slices(gconstpointer a, gconstpointer b)
{
    const struct gt_timeline_slice *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->depth < y->depth ? -1 : x->depth > y->depth;
}

void gt_timeline_bins_slices(struct gt_timeline_bins *l, uint32_t task, unsigned level,
                             uint64_t from, uint64_t to, uint32_t depths,
                             const struct gt_timeline_sink *sink)
{
    for (unsigned k = level; k < l->n; k++) {
        struct gt_timeline_bins_list *s = &l->list[k][task];
        if (!s->slice)
            continue;
        if (!s->slices_sorted)
            g_array_sort(s->slice, compare_slices);
        s->slices_sorted = true;
        const uint64_t longest =
            k + 1 < l->n ? UINT64_C(1) << gt_timeline_bins_exp(l, k + 1) : UINT64_MAX;
        const struct gt_timeline_slice *slice = (const void *)s->slice->data;
        size_t i =
            GT_SEARCH_BELOW(slice, s->slice->len, begin, from > longest ? from - longest : 0);
        for (; i < s->slice->len; i++) {
            const struct gt_timeline_slice *x = &slice[i];
            if (x->begin > to)
                break;
            if (x->begin + x->duration >= from && x->depth < depths)
                sink->slice(sink->self, x);
        }
    }
}

static gint compare_cells(gconstpointer a, gconstpointer b)
{
    const uint64_t x = key_at(a), y = key_at(b);
    return x < y ? -1 : x > y;
}

/* In order, a bin and depth once. */
static void sort_cells(struct gt_timeline_bins *l, struct gt_timeline_bins_list *list)
{
    g_array_sort(list->cell, compare_cells);
    struct gt_timeline_bins_cell *c = (struct gt_timeline_bins_cell *)(void *)list->cell->data;
    guint n = 0;
    for (guint i = 1; i < list->cell->len; i++)
        if (key_at(&c[i]) != key_at(&c[n]))
            c[++n] = c[i];
        else {
            if (c[i].covered > c[n].covered)
                c[n].function = c[i].function;
            c[n].covered += c[i].covered;
            c[n].calls += c[i].calls;
        }
    l->cells -= list->cell->len - (n + 1);
    g_array_set_size(list->cell, n + 1);
    list->cells_sorted = true;
}

/* The first cell of a bin or a later one. */
static guint search_cells(const GArray *a, uint64_t key)
{
    guint low = 0, high = a->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (key_at(&g_array_index(a, struct gt_timeline_bins_cell, middle)) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void gt_timeline_bins_cells(struct gt_timeline_bins *l, uint32_t task, unsigned level, uint64_t bin,
                            uint64_t bins, uint32_t depths, const struct gt_timeline_sink *sink)
{
    close_cells(l, task);
    struct gt_timeline_bins_list *list = &l->list[level][task];
    if (level < l->finest || !list->cell)
        return;
    if (!list->cells_sorted)
        sort_cells(l, list);
    const uint64_t end = key_of(bin + bins, 0);
    for (guint i = search_cells(list->cell, key_of(bin, 0)); i < list->cell->len; i++) {
        const struct gt_timeline_bins_cell *c =
            &g_array_index(list->cell, struct gt_timeline_bins_cell, i);
        const uint64_t key = key_at(c);
        if (key >= end)
            break;
        const struct gt_timeline_cell cell = {
            .bin = key / GT_TIMELINE_DEPTHS,
            .function = c->function,
            .calls = c->calls,
            .covered = (uint64_t)c->covered,
            .depth = (uint16_t)(key % GT_TIMELINE_DEPTHS),
        };
        if (cell.depth < depths)
            sink->cell(sink->self, &cell);
    }
}
