/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of packet sinks share. A stream is "HEAD", then the numbers from 0 on, 8 bytes
 * each; where some were dropped, a word with the top bit set says how many bytes. Each test has a
 * folder of its own, which is the working directory.
 */
#ifndef TESTS_SINK_UTIL_H
#define TESTS_SINK_UTIL_H

#include "base/sink/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, make_scratch, drop_scratch)
#define MARK             (UINT64_C(1) << 63)

enum { BUFFER = 512, LIMIT = 8 * BUFFER, READER_HELD = -1 };

static char scratch[64];
static struct gt_error last_error;

static inline int make_scratch(void **state)
{
    (void)state;
    strcpy(scratch, "/tmp/gt-sink-XXXXXX");
    return mkdtemp(scratch) && chdir(scratch) == 0 ? 0 : -1;
}

static inline int drop_scratch(void **state)
{
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", scratch);
    return chdir("/") || system(command);
}

static inline size_t put_head(void *self, uint8_t *out)
{
    (void)self;
    memcpy(out, "HEAD", 4);
    return 4;
}

static inline size_t put_mark(void *self, uint64_t bytes, uint8_t *out)
{
    (void)self;
    uint64_t word = MARK | bytes;
    memcpy(out, &word, sizeof word);
    return sizeof word;
}

static inline struct gt_packet_sink_options default_options(const char *target)
{
    return (struct gt_packet_sink_options){.target = target,
                                           .buffer_size = BUFFER,
                                           .limit = LIMIT,
                                           .wait_seconds = 60,
                                           .head = put_head,
                                           .mark = put_mark};
}

static inline struct gt_packet_sink *create_with(const struct gt_packet_sink_options *options)
{
    struct gt_packet_sink *o = NULL;
    struct gt_error err = {0};
    if (gt_packet_sink_create(options, &o, &err) != 0)
        fail_msg("%s", err.text);
    return o;
}

static inline struct gt_packet_sink *create_sink(const char *target, size_t limit)
{
    struct gt_packet_sink_options options = default_options(target);
    if (limit)
        options.limit = limit;
    return create_with(&options);
}

static inline int refused(const char *target)
{
    struct gt_packet_sink_options options = default_options(target);
    struct gt_packet_sink *o;
    return gt_packet_sink_create(&options, &o, &last_error);
}

/* Numbers in whole buffers, the last one perhaps not full. */
static inline void put_numbers(struct gt_packet_sink *o, uint64_t from, uint64_t n)
{
    struct gt_packet_buffer *b = gt_packet_sink_acquire(o);
    for (uint64_t i = from; i < from + n; i++) {
        if (b->used == b->size)
            b = gt_packet_sink_exchange(o, b);
        memcpy(b->data + b->used, &i, sizeof i);
        b->used += sizeof i;
    }
    gt_packet_sink_submit(o, b);
}

static inline struct gt_packet_sink_stats finish(struct gt_packet_sink *o)
{
    struct gt_packet_sink_stats stats;
    gt_packet_sink_finish(o, &stats);
    gt_packet_sink_destroy(o);
    return stats;
}

struct text {
    char *data;
    size_t n;
};

static inline void add_text(struct text *t, const void *data, size_t n)
{
    t->data = realloc(t->data, t->n + n + 1);
    memcpy(t->data + t->n, data, n);
    t->n += n;
}

static inline struct text read_file(const char *name)
{
    struct text t = {0};
    char some[4096];
    int fd = open(name, O_RDONLY);
    for (ssize_t got; (got = read(fd, some, sizeof some)) > 0;)
        add_text(&t, some, (size_t)got);
    close(fd);
    return t;
}

static inline void write_file(const char *name, size_t n)
{
    FILE *f = fopen(name, "w");
    for (size_t i = 0; i < n; i++)
        fputc('x', f);
    fclose(f);
}

/* The numbers [from, to), but for `dropped` of them, which marks stand for. */
static inline void check_numbers(const struct text *t, uint64_t from, uint64_t to, uint64_t dropped)
{
    assert_true(t->n >= 4 && memcmp(t->data, "HEAD", 4) == 0);
    assert_int_equal((t->n - 4) % 8, 0);
    uint64_t next = from, missing = 0;
    for (size_t at = 4; at < t->n; at += 8) {
        uint64_t word;
        memcpy(&word, t->data + at, 8);
        if (word & MARK) {
            missing += (word & ~MARK) / 8;
            next += (word & ~MARK) / 8;
        } else if (word != next++) {
            fail_msg("%llu in place of %llu", (unsigned long long)word,
                     (unsigned long long)next - 1);
        }
    }
    assert_int_equal(next, to);
    assert_int_equal(missing, dropped);
}

/* A reader on a thread of its own. */
struct reader {
    pthread_t thread;
    const char *path;
    int listener;   /* -1: it connects */
    long most;      /* bytes, then it goes away; 0: all; READER_HELD: waits to be released */
    size_t at_once; /* 0: much */
    struct text got;
    _Atomic size_t seen; /* bytes so far */
    _Atomic bool released;
};

static inline struct sockaddr_un address_of(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    strncpy(a.sun_path, path, sizeof a.sun_path - 1);
    return a;
}

static inline int connect_to(const char *path)
{
    struct sockaddr_un a = address_of(path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    int small = 1024;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    if (connect(fd, (struct sockaddr *)&a, sizeof a) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static inline int listen_at(const char *path)
{
    struct sockaddr_un a = address_of(path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(fd, 1), 0);
    return fd;
}

static inline void *read_socket(void *arg)
{
    struct reader *r = arg;
    char some[65536];
    int fd = r->listener >= 0 ? accept(r->listener, NULL, NULL) : connect_to(r->path);
    if (r->listener >= 0)
        close(r->listener); /* nobody waits in a queue that nobody looks at any more */
    while (r->most == READER_HELD && !r->released)
        usleep(1000);
    size_t most = r->most > 0 ? (size_t)r->most : SIZE_MAX;
    for (ssize_t got; r->got.n < most; r->seen = r->got.n) {
        got = read(fd, some, r->at_once ? r->at_once : sizeof some);
        if (got <= 0)
            break;
        add_text(&r->got, some, (size_t)got);
    }
    close(fd);
    return NULL;
}

static inline struct reader *new_reader(const char *path, int listener, long most, size_t at_once)
{
    struct reader *r = calloc(1, sizeof *r);
    r->path = path;
    r->listener = listener;
    r->most = most;
    r->at_once = at_once;
    assert_int_equal(pthread_create(&r->thread, NULL, read_socket, r), 0);
    return r;
}

static inline struct reader *start_reader(const char *path, long most, size_t at_once)
{
    return new_reader(path, -1, most, at_once);
}

static inline struct reader *start_server(const char *path, long most, size_t at_once)
{
    return new_reader(path, listen_at(path), most, at_once);
}

static inline void release_reader(struct reader *r)
{
    r->released = true;
}

/* It has got more than that many bytes. */
static inline bool reader_has(const struct reader *r, size_t n)
{
    return r->seen > n;
}

static inline void end_reader(struct reader *r)
{
    pthread_join(r->thread, NULL);
    free(r->got.data);
    free(r);
}

static inline void check_reader(struct reader *r, uint64_t from, uint64_t to, uint64_t dropped)
{
    pthread_join(r->thread, NULL);
    check_numbers(&r->got, from, to, dropped);
    free(r->got.data);
    free(r);
}

/* It begins with the head and a mark of all that was dropped, and goes on to the end without a
 * hole.
 */
static inline void check_resumed(struct reader *r, uint64_t to, uint64_t dropped)
{
    uint64_t first, second;
    pthread_join(r->thread, NULL);
    assert_true(r->got.n > 20);
    memcpy(&first, r->got.data + 4, 8);
    memcpy(&second, r->got.data + 12, 8);
    assert_true(first == (MARK | dropped));
    check_numbers(&(struct text){r->got.data, r->got.n}, second - (first & ~MARK) / 8, to,
                  (first & ~MARK) / 8);
    free(r->got.data);
    free(r);
}

/* What somebody gets who comes as the second: bytes. */
static inline size_t read_as_second(const char *path)
{
    char some[100];
    int fd = connect_to(path);
    ssize_t got = fd < 0 ? 0 : read(fd, some, sizeof some);
    if (fd >= 0)
        close(fd);
    return got > 0 ? (size_t)got : 0;
}

/* A producer on a thread of its own. */
struct producer {
    pthread_t thread;
    struct gt_packet_sink *o;
    uint64_t n;
};

static inline void *produce(void *arg)
{
    struct producer *p = arg;
    put_numbers(p->o, 0, p->n);
    return NULL;
}

static inline struct producer *start_producer(struct gt_packet_sink *o, uint64_t n)
{
    struct producer *p = calloc(1, sizeof *p);
    *p = (struct producer){.o = o, .n = n};
    assert_int_equal(pthread_create(&p->thread, NULL, produce, p), 0);
    return p;
}

/* Until a producer has had to wait. */
static inline void wait_for_waits(struct gt_packet_sink *o)
{
    struct gt_packet_sink_stats stats;
    do {
        usleep(1000);
        gt_packet_sink_get_stats(o, &stats);
    } while (stats.waits == 0);
}

static inline void end_producer(struct producer *p)
{
    pthread_join(p->thread, NULL);
    free(p);
}

#endif
