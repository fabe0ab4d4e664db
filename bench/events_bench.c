/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * events_bench N THREADS OPTION...: fires an event with two integers N times on each thread and
 * says what one took, in nanoseconds of wall clock, the slowest thread's; then how many were lost.
 * The options are those of -trace. Built once for our backends and once for LTTng-UST, which has
 * its options from outside. `bare FILE N`: what a write() of such a line takes by itself.
 */
#include BENCH_HEADER

#include <guesttrace/control.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MAX = 64 };

static long count;
static double took[THREADS_MAX];
static pthread_barrier_t ready;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *fire(void *thread)
{
    trace_bench_two(-1, 0); /* a thread's first event has its buffer made */
    pthread_barrier_wait(&ready);
    double start = now();
    for (long i = 0; i < count; i++) {
        trace_bench_two((int)i, (uint64_t)i);
        __asm__ volatile("" ::: "memory");
    }
    took[(intptr_t)thread] = (now() - start) / (double)count;
    return NULL;
}

/* On a thread of its own as well: descriptors cost more where threads share them. */
static void *write_lines(void *path)
{
    static const char line[] = "bench_two a 1000000 b 1000000\n";
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    double start = now();
    for (long i = 0; i < count; i++) {
        if (write(fd, line, sizeof line - 1) < 0)
            exit(1);
    }
    printf("%.2f 0\n", (now() - start) / (double)count);
    return NULL;
}

int main(int argc, char **argv)
{
    struct gt_trace_error error = {0};
    struct gt_trace_file_status status;
    pthread_t threads[THREADS_MAX];
    if (argc == 4 && strcmp(argv[1], "bare") == 0) {
        count = atol(argv[3]);
        return pthread_create(&threads[0], NULL, write_lines, argv[2]) ||
               pthread_join(threads[0], NULL);
    }
    intptr_t n = argc < 3 ? 0 : atoi(argv[2]);
    if (n < 1 || n > THREADS_MAX)
        return 2;
    count = atol(argv[1]);
    for (int i = 3; i < argc; i++) {
        if (gt_trace_parse(argv[i], stdout, stderr, &error) < 0) {
            fprintf(stderr, "events_bench: %s\n", error.text);
            return 2;
        }
    }
    pthread_barrier_init(&ready, NULL, (unsigned)n);
    for (intptr_t i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, fire, (void *)i);
    double slowest = 0;
    for (intptr_t i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
        slowest = took[i] > slowest ? took[i] : slowest;
    }
    gt_trace_file_status(&status);
    printf("%.2f %llu\n", slowest, (unsigned long long)status.dropped);
    return 0;
}
