/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What packing and unpacking records costs a thread:
 *     compact_bench DIR [exact|timed [RUNS]]
 * packs the records of a uftrace directory in memory and unpacks them, each so often, and prints
 * the median of each: millions of records a second, and bytes a record. exact: times repeat
 * (clock=insn); default. All records must come back as they were.
 */
#include "calls/file/compact.h"
#include "recording/directory/dir.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LEAST_PIECE = 256, MOST_PIECE = 4096, MOST_RUNS = 99 };

/* A TID.dat, as it lies in memory. */
struct source {
    uint32_t tid;
    const struct gt_compact_record *record;
    size_t n, at, back;
};

/* As a recorder's writer gets them: some records of a task at a time. */
struct piece {
    struct source *source;
    size_t from, n;
};

struct bench {
    struct source *source;
    size_t n;
    struct piece *piece;
    size_t n_pieces;
    uint64_t records;
    uint8_t *file; /* the blocks */
    size_t size, room;
    struct gt_compact_unpacker *u;
};

static void fail(const char *what)
{
    fprintf(stderr, "compact_bench: %s\n", what);
    exit(1);
}

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- records ------------------------------------------------------------------------------- */

/* The file in pages of memory that cost little to find: not its pages in the page cache. */
static void *read_file(const char *path, size_t *size)
{
    struct stat st;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) != 0)
        fail(path);
    *size = (size_t)st.st_size;
    uint8_t *data =
        mmap(NULL, *size + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED)
        fail("out of memory");
    madvise(data, *size, MADV_HUGEPAGE);
    for (size_t have = 0; have < *size;) {
        ssize_t n = read(fd, data + have, *size - have);
        if (n <= 0)
            fail(path);
        have += (size_t)n;
    }
    close(fd);
    return data;
}

static void load(struct bench *b, const char *dir)
{
    struct gt_error err;
    uint32_t *tids;
    int64_t n = gt_uftrace_dat_list(dir, &tids, &err);
    if (n < 0)
        fail(err.text);
    b->source = calloc((size_t)n + 1, sizeof *b->source);
    for (int64_t i = 0; i < n; i++) {
        struct source *s = &b->source[b->n++];
        char path[4096];
        size_t size;
        snprintf(path, sizeof path, "%s/%" PRIu32 ".dat", dir, tids[i]);
        s->tid = tids[i];
        s->record = read_file(path, &size);
        s->n = size / sizeof *s->record;
        b->records += s->n;
    }
    free(tids);
}

/* The source whose next record is the earliest, and when the next one's is. */
static struct source *earliest(const struct bench *b, uint64_t *others)
{
    struct source *first = NULL;
    uint64_t time = UINT64_MAX;
    *others = UINT64_MAX;
    for (size_t i = 0; i < b->n; i++) {
        struct source *s = &b->source[i];
        if (s->at == s->n)
            continue;
        if (s->record[s->at].time <= time) {
            *others = time;
            time = s->record[s->at].time;
            first = s;
        } else if (s->record[s->at].time < *others) {
            *others = s->record[s->at].time;
        }
    }
    return first;
}

static void cut_pieces(struct bench *b)
{
    size_t room = 0;
    uint64_t others;
    for (struct source *s; (s = earliest(b, &others));) {
        size_t n = 0;
        while (n < MOST_PIECE && s->at + n < s->n &&
               (n < LEAST_PIECE || s->record[s->at + n].time <= others))
            n++;
        if (b->n_pieces == room) {
            room = room ? 2 * room : 4096;
            b->piece = realloc(b->piece, room * sizeof *b->piece);
        }
        b->piece[b->n_pieces++] = (struct piece){s, s->at, n};
        s->at += n;
    }
}

/* ---- packing ------------------------------------------------------------------------------- */

static void end_block(struct bench *b, struct gt_compact_packer *p)
{
    const uint8_t *data;
    size_t size;
    if (gt_compact_packer_end_block(p, &data, &size) < 0)
        fail("out of memory");
    if (b->size + size > b->room) {
        b->room = 2 * (b->size + size);
        b->file = realloc(b->file, b->room);
    }
    if (size)
        memcpy(b->file + b->size, data, size);
    b->size += size;
}

static void pack(struct bench *b, bool exact)
{
    const struct gt_compact_packer_options o = {.exact = exact};
    struct gt_compact_packer *p;
    if (gt_compact_packer_create(&o, &p) < 0)
        fail("out of memory");
    b->size = 0;
    for (size_t i = 0; i < b->n_pieces; i++) {
        const struct piece *c = &b->piece[i];
        if (gt_compact_packer_put(p, c->source->tid, c->source->record + c->from, c->n) < 0)
            fail("out of memory");
        if (gt_compact_packer_is_full(p))
            end_block(b, p);
    }
    end_block(b, p);
    gt_compact_packer_destroy(p);
}

/* ---- unpacking ----------------------------------------------------------------------------- */

static int look(void *self, const struct gt_compact_piece *p)
{
    uint64_t *sum = self;
    *sum += p->event[p->n - 1].time;
    return 0;
}

static int compare(void *self, const struct gt_compact_piece *p)
{
    struct bench *b = self;
    struct source *s = b->source;
    while (s->tid != p->task)
        s++;
    for (size_t i = 0; i < p->n; i++, s->back++) {
        struct gt_compact_record r = gt_compact_unpacker_record(b->u, &p->event[i]);
        if (r.time != s->record[s->back].time || r.word != s->record[s->back].word)
            fail("a record came back as another one");
    }
    return 0;
}

/* The segments of one of `all` threads. */
static void unpack(const struct bench *b, unsigned thread, unsigned all,
                   struct gt_compact_unpacker *u,
                   int (*piece)(void *self, const struct gt_compact_piece *p), void *self)
{
    struct gt_compact_head h;
    struct gt_error err;
    unsigned segment = 0;
    for (size_t at = 0; at < b->size; at += GT_COMPACT_HEAD + h.size) {
        if (gt_compact_head_read(b->file + at, b->size - at, &h) < 0)
            fail("a block is damaged");
        segment += h.flags & GT_COMPACT_SEGMENT ? 1 : 0;
        if (segment % all == thread &&
            gt_compact_unpacker_block(u, &h, b->file + at + GT_COMPACT_HEAD, piece, self, &err) < 0)
            fail(err.text);
    }
}

struct share {
    const struct bench *b;
    unsigned thread, all;
};

static void *unpack_share(void *arg)
{
    const struct share *s = arg;
    struct gt_compact_unpacker *u;
    uint64_t sum = 0;
    if (gt_compact_unpacker_create(&u) < 0)
        fail("out of memory");
    unpack(s->b, s->thread, s->all, u, look, &sum);
    gt_compact_unpacker_destroy(u);
    return NULL;
}

static double unpack_both(const struct bench *b)
{
    struct share share[2] = {{b, 0, 2}, {b, 1, 2}};
    double begin = seconds(CLOCK_MONOTONIC);
    pthread_t other;
    if (pthread_create(&other, NULL, unpack_share, &share[1]) != 0)
        fail("no thread");
    unpack_share(&share[0]);
    pthread_join(other, NULL);
    return seconds(CLOCK_MONOTONIC) - begin;
}

static void check(struct bench *b)
{
    if (gt_compact_unpacker_create(&b->u) < 0)
        fail("out of memory");
    unpack(b, 0, 1, b->u, compare, b);
    gt_compact_unpacker_destroy(b->u);
    for (size_t i = 0; i < b->n; i++)
        if (b->source[i].back != b->source[i].n)
            fail("a record did not come back");
}

/* ---- times --------------------------------------------------------------------------------- */

static int compare_times(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

static double rate(const struct bench *b, double *times, int runs)
{
    qsort(times, (size_t)runs, sizeof *times, compare_times);
    return (double)b->records / 1e6 / times[runs / 2];
}

int main(int argc, char **argv)
{
    static struct bench b;
    double packing[MOST_RUNS], unpacking[MOST_RUNS], both[MOST_RUNS];
    bool exact = argc < 3 || strcmp(argv[2], "exact") == 0;
    int runs = argc > 3 ? atoi(argv[3]) : 5;
    if (argc < 2 || runs < 1 || runs > MOST_RUNS)
        fail("compact_bench DIR [exact|timed [RUNS]]");
    load(&b, argv[1]);
    cut_pieces(&b);
    for (int i = 0; i < runs; i++) {
        double begin = seconds(CLOCK_PROCESS_CPUTIME_ID);
        pack(&b, exact);
        packing[i] = seconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
        begin = seconds(CLOCK_PROCESS_CPUTIME_ID);
        unpack_share(&(struct share){&b, 0, 1});
        unpacking[i] = seconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
        both[i] = unpack_both(&b);
    }
    check(&b);
    printf("records %" PRIu64 " bytes %zu each %.4f pack %.1f unpack %.1f unpack2 %.1f\n",
           b.records, b.size, (double)b.size / (double)b.records, rate(&b, packing, runs),
           rate(&b, unpacking, runs), rate(&b, both, runs));
    return 0;
}
