/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of the record streams share: a scratch directory, and records that say which
 * stream and which place in it they belong to: the words (id, n), n counting from 0. Where
 * `payloads` is set, some of them have payloads, whose sizes and words n gives.
 */
#ifndef TESTS_STREAM_UTIL_H
#define TESTS_STREAM_UTIL_H

#include "base/stream/stream.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define WITH_SCRATCH(test) cmocka_unit_test_setup_teardown(test, make_scratch, drop_scratch)

static char scratch[64];

static inline void remove_scratch(void)
{
    DIR *d = opendir(scratch);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d));)
        unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    rmdir(scratch);
}

/* An empty directory `scratch`. */
static inline int make_scratch(void **state)
{
    (void)state;
    strcpy(scratch, "/tmp/gt-stream-XXXXXX");
    return mkdtemp(scratch) ? 0 : -1;
}

static inline int drop_scratch(void **state)
{
    (void)state;
    remove_scratch();
    return 0;
}

static bool payloads;

static inline size_t payload_words(uint64_t n)
{
    return !payloads || n % 5 > 1 ? 0 : n % 1000 == 500 ? GT_STREAM_MORE_MOST / 8 : 1 + n % 7;
}

static inline uint64_t payload_word(uint32_t id, uint64_t n, size_t i)
{
    return ((uint64_t)id << 48 | n << 16 | i) * 31;
}

static inline void put_record(struct gt_stream *s, uint64_t n)
{
    uint64_t words[GT_STREAM_MORE_MOST / 8];
    size_t more = payload_words(n);
    for (size_t i = 0; i < more; i++)
        words[i] = payload_word(s->id, n, i);
    if (more)
        gt_stream_put_more(s, s->id, n, words, more);
    else
        gt_stream_put(s, s->id, n);
}

/* The words that record n takes of those left, if it is as it was put; else 0. */
static inline size_t match_record(uint32_t id, uint64_t n, const uint64_t *words, size_t left)
{
    size_t more = payload_words(n);
    if (left < 2 + more || words[0] != id || words[1] != n)
        return 0;
    for (size_t i = 0; i < more; i++)
        if (words[2 + i] != payload_word(id, n, i))
            return 0;
    return 2 + more;
}

static inline struct gt_streams *create_set(size_t limit)
{
    struct gt_streams *set = NULL;
    assert_int_equal(gt_streams_create(scratch, limit, &set, NULL), 0);
    if (payloads)
        gt_streams_expect_more(set);
    return set;
}

static inline struct gt_stream *open_stream(struct gt_streams *set, uint32_t id)
{
    struct gt_stream *s = NULL;
    assert_int_equal(gt_stream_open(set, id, &s), 0);
    return s;
}

static inline void put_records(struct gt_stream *s, uint64_t from, uint64_t n)
{
    for (uint64_t i = from; i < from + n; i++)
        put_record(s, i);
}

/* The number of records in stream id's file; -1: a record is not what it should be, or is torn. */
static inline int64_t check_file(uint32_t id)
{
    char path[128];
    struct stat st;
    snprintf(path, sizeof path, "%s/%u.dat", scratch, id);
    FILE *f = fopen(path, "rb");
    if (!f || fstat(fileno(f), &st) != 0)
        return -1;
    uint64_t *words = malloc((size_t)st.st_size + 8), n = 0;
    size_t left = fread(words, 1, (size_t)st.st_size, f), at = 0, took = 1;
    fclose(f);
    bool good = left % 8 == 0;
    for (left /= 8; good && left; at += took, left -= took, n++) {
        took = match_record(id, n, words + at, left);
        good = took > 0;
        if (!good)
            fprintf(stderr, "%s: not record %llu at word %zu\n", path, (unsigned long long)n, at);
    }
    free(words);
    return good ? (int64_t)n : -1;
}

/* Pool files in the directory. */
static inline int count_rings(void)
{
    int n = 0;
    DIR *d = opendir(scratch);
    for (struct dirent *e; d && (e = readdir(d));)
        n += strncmp(e->d_name, ".guesttrace-", 12) == 0;
    if (d)
        closedir(d);
    return n;
}

#endif
