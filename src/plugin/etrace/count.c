/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flags=coverage: translated code counts each block by itself; the counts are written on request
 * and at the end, as events of the device "coverage" named "0xSTART-0xEND": the value is how often
 * that ran until now, and the previous value what this stream said of it last.
 *
 * On request the counters are read on a thread that QEMU does not know: they may move then. The
 * kernel copies them, which does not mind an address that is gone, and again where they have moved.
 */
#include "format/etrace/count.h"
#include "plugin/etrace/buffer.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    EVENT_PACKET = 256,
    EVENTS = 32, /* put at a time */
    TRIES = 100, /* cells move when there are twice as many vCPUs: seldom */
};

/* Of gt_etrace.met. */
struct tally {
    const struct gt_etrace_block *block;
    uint64_t count; /* of all that start and end there */
};

static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static uint64_t numbers[GT_ETRACE_COUNTERS];                 /* of one vCPU */
static GArray *told;              /* of each place, the count written last */
static unsigned told_streams = 1; /* what is told before the first reader comes, it gets */
static uint64_t told_dropped;

static uint32_t counter_of(struct gt_block *block, struct gt_etrace_block *b)
{
    bool machine = gt_etrace.host.system;
    if (machine && b->insns == 1)
        return gt_etrace_left_watch(block, b);
    if (b->counter)
        return b->counter;
    b->counter = gt_etrace_new_counter();
    if (machine)
        gt_etrace_left_add(b);
    return b->counter;
}

/* One number a block: where one thread runs several vCPUs, QEMU 11.1 adds to a second one elsewhere
 * (common/round_robin.h). */
void gt_etrace_count(struct gt_block *block, struct gt_etrace_block *b)
{
    uint32_t counter = counter_of(block, b);
    gt_block_count(block, gt_etrace_counter_set(counter), (counter - 1) % GT_ETRACE_COUNTERS, 1);
}

/* False: there is nothing at that address. */
static bool copy(void *out, const void *from, size_t n)
{
    struct iovec to = {out, n}, at = {(void *)(uintptr_t)from, n};
    ssize_t got = process_vm_readv(getpid(), &to, 1, &at, 1, 0);
    if (got < 0 && errno != EFAULT)
        memcpy(out, from, n); /* the call is forbidden */
    return got < 0 ? errno != EFAULT : (size_t)got == n;
}

static bool add_numbers(void *set, unsigned vcpu, uint64_t *sums)
{
    const uint64_t *at = gt_counters_find(set, vcpu);
    if (!copy(numbers, at, sizeof numbers) || gt_counters_find(set, vcpu) != at)
        return false;
    for (size_t i = 0; i < GT_ETRACE_COUNTERS; i++)
        sums[i] += numbers[i];
    return true;
}

static bool try_sum(void *set, uint64_t *sums)
{
    unsigned n = gt_counters_sets(__atomic_load_n(&gt_etrace.n_vcpus, __ATOMIC_ACQUIRE));
    memset(sums, 0, GT_ETRACE_COUNTERS * sizeof *sums);
    for (unsigned i = 0; i < n; i++)
        if (!add_numbers(set, i, sums))
            return false;
    return true;
}

/* The set's counters, of all vCPUs together. */
static void sum_set(void *set, uint64_t *sums)
{
    for (int i = 0; i < TRIES && !try_sum(set, sums); i++)
        ;
}

/* How often the block ran to its end, of which sums[N - 1] is counter N. */
static uint64_t count_of(const struct gt_etrace_block *b, const uint64_t *sums)
{
    uint64_t count = b->counter ? sums[b->counter - 1] : 0;
    if (!b->rare)
        return count;
    for (const struct gt_etrace_alone *a = b->rare->alone; a; a = a->next)
        count += sums[a->counter - 1];
    return count + b->rare->more - b->rare->left;
}

/* All places, in the order in which they were met: that of counters and blocks in memory. With the
 * lock no block is found to have been left: no count is too small. */
static GArray *count_all(void)
{
    pthread_mutex_lock(&gt_etrace.lock);
    const GPtrArray *met = gt_etrace.met, *sets = gt_etrace.counters;
    uint64_t *sums = g_new(uint64_t, (size_t)GT_ETRACE_COUNTERS * sets->len);
    for (guint k = 0; k < sets->len; k++)
        sum_set(sets->pdata[k], sums + (size_t)GT_ETRACE_COUNTERS * k);
    GArray *all = g_array_sized_new(FALSE, FALSE, sizeof(struct tally), met->len);
    for (guint k = 0; k < met->len; k++) {
        struct tally t = {.block = met->pdata[k]};
        for (const struct gt_etrace_block *b = t.block; b; b = b->rare ? b->rare->alike : NULL)
            t.count += count_of(b, sums);
        g_array_append_val(all, t);
    }
    pthread_mutex_unlock(&gt_etrace.lock);
    g_free(sums);
    return all;
}

static void put_count(struct gt_writer *w, const struct gt_etrace_block *b, uint64_t count,
                      uint64_t previous)
{
    char name[GT_ETRACE_COUNT_NAME];
    gt_etrace_count_name(name, b->start, b->end);
    gt_etrace_put_event(w, &(struct gt_etrace_event){.value = count,
                                                     .previous = previous,
                                                     .device = GT_ETRACE_COUNT_DEVICE,
                                                     .name = name});
}

/* A new reader has been told nothing; where something was dropped, all is told again. */
static bool begin_again(const GArray *all)
{
    struct gt_packet_sink_stats stats;
    gt_packet_sink_get_stats(gt_etrace.outlet, &stats);
    unsigned streams = MAX(1, __atomic_load_n(&gt_etrace.streams, __ATOMIC_RELAXED));
    if (!told)
        told = g_array_new(FALSE, TRUE, sizeof(uint64_t));
    if (streams != told_streams)
        g_array_set_size(told, 0);
    g_array_set_size(told, all->len);
    bool repeat = stats.dropped != told_dropped;
    told_streams = streams;
    told_dropped = stats.dropped;
    return repeat;
}

/* Puts what is to be told of places from *k on, as far as one buffer takes it. Returns how many. */
static size_t put_some(const GArray *all, guint *k, bool repeat)
{
    size_t written = 0;
    struct gt_writer *w = gt_etrace_put_begin(NULL, EVENTS * EVENT_PACKET);
    for (; *k < all->len && written < EVENTS; (*k)++) {
        const struct tally *t = &g_array_index(all, struct tally, *k);
        uint64_t *last = &g_array_index(told, uint64_t, *k);
        /* shared counters are added to without synchronisation, and may go back */
        uint64_t count = MAX(t->count, *last);
        if (count == 0 || (count == *last && !repeat))
            continue;
        if (w)
            put_count(w, t->block, count, *last);
        *last = count;
        written++;
    }
    if (w)
        gt_etrace_put_end();
    return written;
}

size_t gt_etrace_put_counts(void)
{
    pthread_mutex_lock(&counting);
    size_t written = 0;
    GArray *all = count_all();
    bool repeat = begin_again(all);
    for (guint k = 0; k < all->len;)
        written += put_some(all, &k, repeat);
    g_array_free(all, TRUE);
    pthread_mutex_unlock(&counting);
    return written;
}
