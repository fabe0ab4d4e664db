/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of the record streams share: a scratch directory, and records that say which
 * stream and which place in it they belong to: the words (id, n), n counting from 0.
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

static inline struct gt_streams *create_set(size_t limit)
{
    struct gt_streams *set = NULL;
    assert_int_equal(gt_streams_create(scratch, limit, &set, NULL), 0);
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
        gt_stream_put(s, s->id, i);
}

/* The number of records in stream id's file; -1: a record is not what it should be, or is torn. */
static inline int64_t check_file(uint32_t id)
{
    char path[128];
    uint64_t r[512], n = 0;
    size_t got;
    snprintf(path, sizeof path, "%s/%u.dat", scratch, id);
    FILE *f = fopen(path, "rb");
    if (!f)
        return -1;
    while ((got = fread(r, 1, sizeof r, f)) > 0) {
        for (size_t i = 0; i + 16 <= got; i += 16, n++) {
            if (r[i / 8] != id || r[i / 8 + 1] != n) {
                fprintf(stderr, "%s: record %llu is (%llu, %llu)\n", path, (unsigned long long)n,
                        (unsigned long long)r[i / 8], (unsigned long long)r[i / 8 + 1]);
                fclose(f);
                return -1;
            }
        }
        if (got % 16) {
            fprintf(stderr, "%s: a torn record after %llu\n", path, (unsigned long long)n);
            fclose(f);
            return -1;
        }
    }
    fclose(f);
    return (int64_t)n;
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
