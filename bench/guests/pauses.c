/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls random functions for so many seconds. Prints, each 50 ms: the clock's ms; then the us of
 * the longest time in them that something other than the scheduler stopped it: it slept, and
 * neither ran nor waited for a processor. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { PERIOD = 50000000, CALLS = 512 };

static volatile uint32_t sink;

/* A function of its own for each number. */
#define ONE(n)                                                                                     \
    static __attribute__((noinline)) void f##n(uint32_t left)                                      \
    {                                                                                              \
        for (left &= 7; left; left--)                                                              \
            sink += n;                                                                             \
    }
#define FOUR(F, n)    F(n##0) F(n##1) F(n##2) F(n##3)
#define SIXTEEN(F, n) FOUR(F, n##0) FOUR(F, n##1) FOUR(F, n##2) FOUR(F, n##3)
#define ALL(F)        SIXTEEN(F, 10) SIXTEEN(F, 11) SIXTEEN(F, 12) SIXTEEN(F, 13)
#define NAME(n)       f##n,

ALL(ONE)
static void (*const function[])(uint32_t) = {ALL(NAME)};
enum { FUNCTIONS = sizeof function / sizeof *function };

static uint64_t ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Nanoseconds that this thread has run, and waited for a processor. */
static uint64_t busy(int fd)
{
    char text[96];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    char *end = text;
    text[n > 0 ? n : 0] = '\0';
    uint64_t ran = strtoull(text, &end, 10);
    return ran + strtoull(end, NULL, 10);
}

/* How often this thread slept. */
static long sleeps(void)
{
    struct rusage used;
    getrusage(RUSAGE_THREAD, &used);
    return used.ru_nvcsw;
}

/* A moment of this thread. */
struct moment {
    uint64_t clock, busy;
    long sleeps;
};

static struct moment now(int fd)
{
    return (struct moment){ns(CLOCK_MONOTONIC), busy(fd), sleeps()};
}

static uint64_t stopped(const struct moment *a, const struct moment *b)
{
    uint64_t passed = b->clock - a->clock, busy = b->busy - a->busy;
    return b->sleeps != a->sleeps && passed > busy ? passed - busy : 0;
}

static uint64_t call_some(uint64_t random)
{
    for (int i = 0; i < CALLS; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        function[random % FUNCTIONS]((uint32_t)(random >> 32));
    }
    return random;
}

int main(int argc, char **argv)
{
    int fd = open("/proc/thread-self/schedstat", O_RDONLY);
    struct moment last = now(fd);
    uint64_t end = last.clock + strtoull(argc > 1 ? argv[1] : "1", NULL, 10) * 1000000000u;
    uint64_t due = last.clock + PERIOD, longest = 0, random = 88172645463325252u;
    if (fd < 0)
        return 1;
    while (last.clock < end) {
        random = call_some(random);
        struct moment next = now(fd);
        uint64_t stop = stopped(&last, &next);
        longest = stop > longest ? stop : longest;
        if (next.clock >= due) {
            printf("%llu %llu\n", (unsigned long long)(next.clock / 1000000u),
                   (unsigned long long)(longest / 1000u));
            fflush(stdout);
            due = next.clock + PERIOD;
            longest = 0;
            next = now(fd);
        }
        last = next;
    }
    return 0;
}
