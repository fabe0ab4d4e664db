/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long the requests of a guest's virtio disks take, from a trace that QEMU's simple backend
 * wrote: the time from virtio_blk_handle_read or _write to virtio_blk_req_complete of the same
 * request, for reads and writes of each device.
 *
 *     qemu-system-x86_64 ... --trace 'virtio_blk_*' --trace file=disk.trace
 *     block-latency trace-events-all disk.trace
 */
#include <guesttrace/simpletrace.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 1 << 16, BUCKETS = 64, KINDS_MAX = 256 };

/* Requests of one device and direction. */
struct kind {
    uint64_t device;
    bool write;
    uint64_t count, sectors, total, longest;
    uint64_t buckets[BUCKETS]; /* by the latency's highest bit */
};

/* A request that is under way. */
struct request {
    uint64_t id; /* 0: none */
    uint64_t start;
    struct kind *kind;
};

struct analysis {
    struct request requests[SLOTS]; /* open addressing; a request is at most SLOTS / 2 away */
    struct kind kinds[KINDS_MAX];
    size_t n_kinds;
    uint64_t unknown, lost;
};

/* The value of an argument by its name. */
static uint64_t number(const struct gt_trace_record *r, const char *name)
{
    for (unsigned i = 0; i < r->n_values; i++)
        if (strcmp(r->arguments[i].name, name) == 0)
            return r->values[i].number;
    return 0;
}

static struct kind *kind_of(struct analysis *a, uint64_t device, bool write)
{
    for (size_t i = 0; i < a->n_kinds; i++)
        if (a->kinds[i].device == device && a->kinds[i].write == write)
            return &a->kinds[i];
    if (a->n_kinds == KINDS_MAX)
        return NULL;
    a->kinds[a->n_kinds] = (struct kind){.device = device, .write = write};
    return &a->kinds[a->n_kinds++];
}

static size_t place(uint64_t id)
{
    return (size_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 48) % SLOTS;
}

/* The slot of a request, or the free one for it; NULL: there is neither. */
static struct request *find(struct analysis *a, uint64_t id)
{
    for (size_t i = 0; i < SLOTS / 2; i++) {
        struct request *r = &a->requests[(place(id) + i) % SLOTS];
        if (r->id == id || r->id == 0)
            return r;
    }
    return NULL;
}

/* Behind a slot that becomes free no other may be found too late. */
static void forget(struct analysis *a, struct request *hole)
{
    size_t h = (size_t)(hole - a->requests);
    for (size_t i = (h + 1) % SLOTS; a->requests[i].id; i = (i + 1) % SLOTS) {
        size_t home = place(a->requests[i].id);
        if ((i - home) % SLOTS >= (i - h) % SLOTS) {
            a->requests[h] = a->requests[i];
            h = i;
        }
    }
    a->requests[h].id = 0;
}

static int begins(void *self, const struct gt_trace_record *r)
{
    struct analysis *a = self;
    struct request *q = find(a, number(r, "req"));
    struct kind *k =
        kind_of(a, number(r, "vdev"), strcmp(r->event->name, "virtio_blk_handle_write") == 0);
    if (!q || !k) {
        a->lost++;
        return 0;
    }
    *q = (struct request){number(r, "req"), r->timestamp, k};
    k->sectors += number(r, "nsectors");
    return 0;
}

static int completes(void *self, const struct gt_trace_record *r)
{
    struct analysis *a = self;
    struct request *q = find(a, number(r, "req"));
    if (!q || !q->id || r->timestamp < q->start) {
        a->unknown++; /* it began before the trace, or is a flush */
        return 0;
    }
    uint64_t ns = r->timestamp - q->start;
    struct kind *k = q->kind;
    k->count++;
    k->total += ns;
    if (ns > k->longest)
        k->longest = ns;
    k->buckets[63 - __builtin_clzll(ns | 1)]++;
    forget(a, q);
    return 0;
}

static int dropped(void *self, const struct gt_trace_record *r)
{
    ((struct analysis *)self)->lost += number(r, "num_events_dropped");
    return 0;
}

/* Microseconds below which this share of the requests was, to a factor of two. */
static double percentile(const struct kind *k, double share)
{
    uint64_t seen = 0;
    for (int i = 0; i < BUCKETS; i++) {
        seen += k->buckets[i];
        if (seen && (double)seen >= share * (double)k->count)
            return 2.0 * (double)(UINT64_C(1) << i) / 1e3;
    }
    return 0;
}

static void show(const struct analysis *a)
{
    printf("%-18s %-6s %10s %12s %12s %12s %12s %12s\n", "DEVICE", "", "requests", "bytes",
           "mean us", "half < us", "99 % < us", "longest us");
    for (size_t i = 0; i < a->n_kinds; i++) {
        const struct kind *k = &a->kinds[i];
        char device[32];
        snprintf(device, sizeof device, "0x%" PRIx64, k->device);
        printf("%-18s %-6s %10" PRIu64 " %12" PRIu64 " %12.3f %12.3f %12.3f %12.3f\n", device,
               k->write ? "write" : "read", k->count, k->sectors * 512,
               k->count ? (double)k->total / (double)k->count / 1e3 : 0, percentile(k, 0.5),
               percentile(k, 0.99), (double)k->longest / 1e3);
    }
    printf("%" PRIu64 " completions of unknown requests, %" PRIu64 " events lost\n", a->unknown,
           a->lost);
}

static int analyse(struct analysis *a, const struct gt_trace_declarations *events, const char *path,
                   struct gt_trace_error *err)
{
    struct gt_trace_reader *reader;
    int status = gt_trace_reader_open(&reader, path, events, NULL, err);
    if (status < 0)
        return status;
    status = gt_trace_reader_on(reader, "virtio_blk_handle_read", begins, a, err);
    if (status == 0)
        status = gt_trace_reader_on(reader, "virtio_blk_handle_write", begins, a, err);
    if (status == 0)
        status = gt_trace_reader_on(reader, "virtio_blk_req_complete", completes, a, err);
    if (status == 0)
        status = gt_trace_reader_on(reader, "Dropped_Event", dropped, a, err);
    if (status == 0)
        status = gt_trace_reader_run(reader, err);
    gt_trace_reader_close(reader);
    return status;
}

int main(int argc, char **argv)
{
    struct gt_trace_declarations *events = NULL;
    struct gt_trace_error err;
    if (argc != 3) {
        fprintf(stderr, "usage: block-latency EVENTS TRACE\n");
        return 2;
    }
    struct analysis *a = calloc(1, sizeof *a);
    if (!a || gt_trace_declarations_read(&events, argv[1], &err) < 0) {
        fprintf(stderr, "block-latency: %s\n", a ? err.text : "out of memory");
        free(a);
        return 1;
    }
    int status = analyse(a, events, argv[2], &err);
    show(a);
    if (status < 0)
        fprintf(stderr, "block-latency: %s\n", err.text);
    gt_trace_declarations_free(events);
    free(a);
    return status < 0;
}
