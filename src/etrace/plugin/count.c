/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flags=coverage: counts as events: see count.h. */
#include "etrace/plugin/count.h"

#include "etrace/format/mapping.h"
#include "etrace/plugin/buffer.h"
#include "etrace/plugin/early_exit.h"
#include "etrace/plugin/recorder.h"
#include "qemu/support/guest_memory.h"

#include <errno.h>
#include <string.h>

enum {
    EVENT_PACKET = 256,
    EVENTS = 32, /* put at a time */
    TRIES = 100, /* the scoreboard moves when the number of vCPUs has doubled: seldom */
};

/* One of cache.ranges. */
struct tally {
    const struct gt_etrace_block *block;
    uint64_t count; /* runs of all blocks that start and end there */
};

static uint32_t counter_of(struct gt_etrace *e, struct gt_host_block *block,
                           struct gt_etrace_block *b)
{
    bool machine = e->host.system;
    if (machine && b->insns == 1)
        return gt_etrace_early_exit_watch(e, block, b);
    if (b->counter)
        return b->counter;
    b->counter = gt_etrace_counter_new(e);
    if (machine)
        gt_etrace_early_exit_add(e, b);
    return b->counter;
}

/* One inline addition a block: where one thread runs several vCPUs, QEMU 11.1 adds to a second one
 * elsewhere (gt_host_vcpus_correct). */
void gt_etrace_count_runs(struct gt_etrace *e, struct gt_host_block *block,
                          struct gt_etrace_block *b)
{
    uint32_t counter = counter_of(e, block, b);
    gt_host_block_count(block, gt_etrace_counter_set(e, counter),
                        (counter - 1) % GT_ETRACE_COUNTERS, 1);
}

/* False: no memory is at that address. */
static bool copy(void *out, const void *from, size_t n)
{
    int failed = gt_support_own_memory_read((uint64_t)(uintptr_t)from, out, n);
    if (failed && failed != EFAULT)
        memcpy(out, from, n); /* the call is forbidden */
    return failed != EFAULT;
}

static bool add_numbers(uint64_t *numbers, void *set, unsigned vcpu, uint64_t *sums)
{
    const uint64_t *at = gt_host_counters_find(set, vcpu);
    if (!copy(numbers, at, GT_ETRACE_COUNTERS * sizeof *numbers) ||
        gt_host_counters_find(set, vcpu) != at)
        return false;
    for (size_t i = 0; i < GT_ETRACE_COUNTERS; i++)
        sums[i] += numbers[i];
    return true;
}

static bool try_sum(struct gt_etrace *e, void *set, uint64_t *sums)
{
    unsigned n = gt_host_counters_sets(__atomic_load_n(&e->n_vcpus, __ATOMIC_ACQUIRE));
    memset(sums, 0, GT_ETRACE_COUNTERS * sizeof *sums);
    for (unsigned i = 0; i < n; i++)
        if (!add_numbers(e->count.numbers, set, i, sums))
            return false;
    return true;
}

/* Sums the set's counters over all vCPUs. */
static void sum_set(struct gt_etrace *e, void *set, uint64_t *sums)
{
    for (int i = 0; i < TRIES && !try_sum(e, set, sums); i++)
        ;
}

/* How often the block ran to its end; sums[N - 1] is the value of counter N. */
static uint64_t count_of(const struct gt_etrace_block *b, const uint64_t *sums)
{
    uint64_t count = b->counter ? sums[b->counter - 1] : 0;
    if (!b->cold)
        return count;
    for (const struct gt_etrace_single *s = b->cold->singles; s; s = s->next)
        count += sums[s->counter - 1];
    return count + b->cold->extra_runs - b->cold->early_exits;
}

/* The tallies of all ranges, in the order of their first translation: that of counters and blocks
 * in memory. With the recorder's lock no thread finds that a block ended early: no count is too
 * small.
 */
static GArray *count_all(struct gt_etrace *e)
{
    pthread_mutex_lock(&e->lock);
    const GPtrArray *ranges = e->cache.ranges, *sets = e->counters.sets;
    uint64_t *sums = g_new(uint64_t, (size_t)GT_ETRACE_COUNTERS * sets->len);
    for (guint k = 0; k < sets->len; k++)
        sum_set(e, sets->pdata[k], sums + (size_t)GT_ETRACE_COUNTERS * k);
    GArray *all = g_array_sized_new(FALSE, FALSE, sizeof(struct tally), ranges->len);
    for (guint k = 0; k < ranges->len; k++) {
        struct tally t = {.block = ranges->pdata[k]};
        for (const struct gt_etrace_block *b = t.block; b; b = b->cold ? b->cold->same_range : NULL)
            t.count += count_of(b, sums);
        g_array_append_val(all, t);
    }
    pthread_mutex_unlock(&e->lock);
    g_free(sums);
    return all;
}

static void put_count(struct gt_bytes_writer *w, const struct gt_etrace_block *b, uint64_t count,
                      uint64_t previous)
{
    char name[GT_ETRACE_COUNT_NAME];
    gt_etrace_count_name(name, b->start, b->end);
    gt_etrace_put_event(w, &(struct gt_etrace_event){.value = count,
                                                     .previous = previous,
                                                     .device = GT_ETRACE_COUNT_DEVICE,
                                                     .name = name});
}

/* A new reader has no counts yet; where the sink dropped something, all are put again: true. */
static bool begin_again(struct gt_etrace *e, const GArray *all)
{
    struct gt_packet_sink_stats stats;
    gt_packet_sink_get_stats(e->sink, &stats);
    unsigned streams = MAX(1, __atomic_load_n(&e->streams, __ATOMIC_RELAXED));
    struct gt_etrace_count *c = &e->count;
    if (streams != c->streams)
        g_array_set_size(c->delivered, 0);
    g_array_set_size(c->delivered, all->len);
    bool repeat = stats.dropped != c->dropped;
    c->streams = streams;
    c->dropped = stats.dropped;
    return repeat;
}

/* Puts the tallies that are due, from *k on, as much as one buffer takes. Returns how many. */
static size_t put_some(struct gt_etrace *e, const GArray *all, guint *k, bool repeat)
{
    size_t written = 0;
    struct gt_etrace_buffer *buf = gt_etrace_put_begin(e, NULL, EVENTS * EVENT_PACKET);
    for (; *k < all->len && written < EVENTS; (*k)++) {
        const struct tally *t = &g_array_index(all, struct tally, *k);
        uint64_t *last = &g_array_index(e->count.delivered, uint64_t, *k);
        /* shared counters are added to without synchronisation, and may go back */
        uint64_t count = MAX(t->count, *last);
        if (count == 0 || (count == *last && !repeat))
            continue;
        if (buf)
            put_count(&buf->w, t->block, count, *last);
        *last = count;
        written++;
    }
    if (buf)
        gt_etrace_put_end(buf);
    return written;
}

size_t gt_etrace_put_counts(struct gt_etrace *e)
{
    pthread_mutex_lock(&e->count.lock);
    size_t written = 0;
    GArray *all = count_all(e);
    bool repeat = begin_again(e, all);
    for (guint k = 0; k < all->len;)
        written += put_some(e, all, &k, repeat);
    g_array_free(all, TRUE);
    pthread_mutex_unlock(&e->count.lock);
    return written;
}
