/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a record costs its producer: record streams against two buffers and a thread that writes
 * them.
 *
 *     stream_bench DIR [RECORDS [WORK]]
 *
 * One producer computes WORK rounds of a checksum a record (the guest's part; so that the disk
 * keeps up) and puts the record. The cost of a record is the producer's time less that of the same
 * work without records, once by its thread's processor time and once by the clock; each is the
 * least of a few runs. The bytes are all in the file (in the page cache) when a run ends.
 */
#include "base/stream/internal.h"
#include "base/stream/stream.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 7 };

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t work(uint64_t x, unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        __asm__ volatile("" : "+r"(x));
    }
    return x;
}

/* The baseline: the producer fills one buffer while a thread writes the other. */
enum { BUFFER = 256 << 10 };

struct two_buffers {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t *at, *end;
    uint64_t *buffer[2];
    size_t full; /* bytes in the other buffer that the thread has to write */
    unsigned now;
    bool stop;
    int fd;
    pthread_t thread;
};

static void *write_buffers(void *arg)
{
    struct two_buffers *b = arg;
    pthread_mutex_lock(&b->lock);
    for (;;) {
        while (!b->full && !b->stop)
            pthread_cond_wait(&b->changed, &b->lock);
        if (!b->full)
            break;
        pthread_mutex_unlock(&b->lock);
        if (write(b->fd, b->buffer[!b->now], b->full) != (ssize_t)b->full)
            perror("write");
        pthread_mutex_lock(&b->lock);
        b->full = 0;
        pthread_cond_broadcast(&b->changed);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

static void __attribute__((noinline)) swap_buffers(struct two_buffers *b)
{
    pthread_mutex_lock(&b->lock);
    while (b->full)
        pthread_cond_wait(&b->changed, &b->lock);
    b->full = (size_t)((char *)b->at - (char *)b->buffer[b->now]);
    b->now = !b->now;
    b->at = b->buffer[b->now];
    b->end = b->at + BUFFER / 8;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

static void run_two_buffers(const char *dir, uint64_t records, unsigned rounds, double cost[3])
{
    double all = seconds(CLOCK_PROCESS_CPUTIME_ID);
    struct two_buffers b = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    char path[4096];
    snprintf(path, sizeof path, "%s/two.dat", dir);
    b.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < 2; i++) {
        b.buffer[i] = malloc(BUFFER);
        memset(b.buffer[i], 0, BUFFER);
    }
    b.at = b.buffer[0];
    b.end = b.at + BUFFER / 8;
    pthread_create(&b.thread, NULL, write_buffers, &b);
    double cpu = seconds(CLOCK_THREAD_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);
    uint64_t x = 1;
    for (uint64_t i = 0; i < records; i++) {
        x = work(x, rounds);
        if (b.at == b.end)
            swap_buffers(&b);
        b.at[0] = i;
        b.at[1] = x;
        b.at += 2;
        __asm__ volatile("" ::: "memory");
    }
    cost[0] = seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
    cost[1] = seconds(CLOCK_MONOTONIC) - wall;
    swap_buffers(&b);
    pthread_mutex_lock(&b.lock);
    b.stop = true;
    pthread_cond_broadcast(&b.changed);
    pthread_mutex_unlock(&b.lock);
    pthread_join(b.thread, NULL);
    cost[2] = seconds(CLOCK_PROCESS_CPUTIME_ID) - all;
    close(b.fd);
    unlink(path);
    free(b.buffer[0]);
    free(b.buffer[1]);
}

static struct gt_streams_stats stats;
static size_t payload; /* words after each record */

static void run_stream(const char *dir, uint64_t records, unsigned rounds, double cost[3])
{
    double all = seconds(CLOCK_PROCESS_CPUTIME_ID);
    struct gt_streams *set;
    struct gt_stream *s;
    char path[4096];
    snprintf(path, sizeof path, "%s/1.dat", dir);
    if (gt_streams_create(dir, 0, &set, NULL) != 0 || gt_stream_open(set, 1, &s) != 0)
        exit(1);
    double cpu = seconds(CLOCK_THREAD_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);
    uint64_t x = 1;
    for (uint64_t i = 0; i < records && !payload; i++) {
        x = work(x, rounds);
        gt_stream_put(s, i, x);
    }
    for (uint64_t i = 0; i < records && payload; i++) {
        x = work(x, rounds);
        gt_stream_put_more(s, i, x, (const uint64_t[8]){x, i, x, i, x, i, x, i}, payload);
    }
    cost[0] = seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
    cost[1] = seconds(CLOCK_MONOTONIC) - wall;
    gt_streams_destroy(set, &stats);
    cost[2] = seconds(CLOCK_PROCESS_CPUTIME_ID) - all;
    unlink(path);
}

static void run_nothing(const char *dir, uint64_t records, unsigned rounds, double cost[3])
{
    (void)dir;
    double cpu = seconds(CLOCK_THREAD_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);
    uint64_t x = 1;
    for (uint64_t i = 0; i < records; i++) {
        x = work(x, rounds);
        __asm__ volatile("" ::: "memory");
    }
    cost[0] = seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
    cost[1] = seconds(CLOCK_MONOTONIC) - wall;
    cost[2] = cost[0];
}

static void start_and_stop(const char *dir, uint64_t records, unsigned rounds, double cost[3])
{
    (void)records, (void)rounds;
    double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);
    double unused[3];
    run_stream(dir, 100, 0, unused);
    cost[0] = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    cost[1] = seconds(CLOCK_MONOTONIC) - wall;
    cost[2] = cost[0];
}

static int no_promise(int fd, struct statfs *out)
{
    (void)fd, (void)out;
    return -1;
}

static void run_anonymous(const char *dir, uint64_t records, unsigned rounds, double cost[3])
{
    struct gt_stream_sys real = gt_stream_sys;
    gt_stream_sys.fstatfs = no_promise;
    run_stream(dir, records, rounds, cost);
    gt_stream_sys = real;
}

/* Three values, and a text of 32 bytes. */
static void run_three_words(const char *dir, uint64_t records, unsigned rounds, double cost[3])
{
    payload = 3;
    run_stream(dir, records, rounds, cost);
    payload = 0;
}

static void run_text(const char *dir, uint64_t records, unsigned rounds, double cost[3])
{
    payload = 5;
    run_stream(dir, records, rounds, cost);
    payload = 0;
}

typedef void run_fn(const char *dir, uint64_t records, unsigned rounds, double cost[3]);

static void least(run_fn *run, const char *dir, uint64_t records, unsigned rounds, double best[3])
{
    best[0] = best[1] = best[2] = 1e9;
    for (int i = 0; i < RUNS; i++) {
        double cost[3];
        run(dir, records, rounds, cost);
        for (int k = 0; k < 3; k++)
            best[k] = cost[k] < best[k] ? cost[k] : best[k];
    }
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    uint64_t records = argc > 2 ? strtoull(argv[2], NULL, 0) : 10000000;
    unsigned rounds = argc > 3 ? (unsigned)atoi(argv[3]) : 16;
    static const struct {
        const char *name;
        run_fn *run;
    } ways[] = {
        {"two buffers", run_two_buffers},    {"record stream", run_stream},
        {"  pool in memory", run_anonymous}, {"  with 3 words", run_three_words},
        {"  with 5 words", run_text},
    };
    double none[3], cost[3], base = 0, ns = 1e9 / (double)records;
    least(run_nothing, argv[1], records, rounds, none);
    printf("%-16s %6.2f ns a record\n", "work alone", none[0] * ns);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        memset(&stats, 0, sizeof stats);
        least(ways[i].run, argv[1], records, rounds, cost);
        double cpu = (cost[0] - none[0]) * ns, wall = (cost[1] - none[1]) * ns;
        double all = (cost[2] - none[2]) * ns;
        base = i ? base : cpu;
        printf("%-16s %6.2f ns cpu %6.2f all threads %6.2f wall  ratio %.2f  waits %llu%s\n",
               ways[i].name, cpu, all, wall, cpu / base, (unsigned long long)stats.waits,
               stats.survives_kill ? "  survives a kill" : "");
    }
    least(start_and_stop, argv[1], records, rounds, cost);
    printf("%-16s %6.0f us, start to end\n", "a short run", cost[1] * 1e6);
    return 0;
}
