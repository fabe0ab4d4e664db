/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A backend of record streams (base/stream/packing.h) as simple as can be: `blocks` in the scratch
 * directory has blocks of words: number, n, then n times id and record. It does what `script` says.
 */
#ifndef TESTS_PACKING_UTIL_H
#define TESTS_PACKING_UTIL_H

#include "stream_util.h"

#include <errno.h>

enum { BLOCK_HEAD = 2, BLOCK_RECORD = 3, BLOCK_ROOM = 1 << 21 };

static struct {
    uint64_t full;                          /* records of a full block; 0: no block is */
    uint64_t most;                          /* records of a block; 0: any number */
    unsigned fail_open, fail_put, fail_end; /* at which call, from 1; 0: at none */
    void (*at_end)(void);                   /* called before */
    bool before_end, after_end; /* the process ends instead of ending the block, or after it */
    unsigned opens, puts, ends, forgotten; /* calls */
    uint64_t largest, smallest;            /* records of a block */
} script;

static struct {
    int fd;
    uint64_t number, n;
    uint64_t *words;
} backend = {.fd = -1};

static inline const char *blocks_path(const void *self)
{
    static char path[128];
    (void)self;
    snprintf(path, sizeof path, "%s/blocks", scratch);
    return path;
}

/* Calls `record` for each record of the number, 0: of all. Returns where the last whole block ends.
 */
static inline off_t read_blocks(int fd, uint64_t number,
                                void (*record)(void *arg, const uint64_t *r), void *arg)
{
    uint64_t head[BLOCK_HEAD];
    off_t at = 0, size = lseek(fd, 0, SEEK_END);
    while (pread(fd, head, sizeof head, at) == (ssize_t)sizeof head) {
        size_t n = (size_t)head[1] * BLOCK_RECORD;
        if (at + (off_t)(sizeof head + n * sizeof(uint64_t)) > size)
            break;
        uint64_t *words = malloc(n * sizeof *words);
        assert_int_equal(pread(fd, words, n * sizeof *words, at + (off_t)sizeof head),
                         n * sizeof *words);
        for (size_t i = 0; i < n && (!number || head[0] == number); i += BLOCK_RECORD)
            record(arg, words + i);
        free(words);
        at += (off_t)(sizeof head + n * sizeof *words);
    }
    return at;
}

static inline void count_record(void *arg, const uint64_t *r)
{
    (void)r;
    ++*(uint64_t *)arg;
}

static inline int script_open(void *self, uint32_t number, bool recover, uint64_t *records)
{
    (void)self, (void)recover;
    if (++script.opens == script.fail_open)
        return EMFILE;
    if (!backend.words)
        backend.words = malloc((BLOCK_HEAD + BLOCK_RECORD * BLOCK_ROOM) * sizeof(uint64_t));
    backend.number = number;
    backend.n = *records = 0;
    backend.fd = open(blocks_path(NULL), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    return backend.fd < 0 || ftruncate(backend.fd,
                                       read_blocks(backend.fd, number, count_record, records)) != 0
               ? errno
               : 0;
}

static inline int script_put(void *self, uint32_t id, const uint64_t *words, size_t n)
{
    (void)self;
    if (++script.puts == script.fail_put)
        return ENOMEM;
    size_t records = 0;
    for (size_t at = 0, took; at < n; at += took, records++) {
        took = match_record(id, words[at + 1], words + at, n - at);
        if (!took)
            return EBADMSG;
    }
    if (script.most && backend.n && backend.n + records > script.most)
        return EAGAIN;
    if (backend.n + records > BLOCK_ROOM)
        return ERANGE;
    for (size_t at = 0; at < n; at += 2 + payload_words(words[at + 1])) {
        uint64_t *r = backend.words + BLOCK_HEAD + BLOCK_RECORD * backend.n++;
        r[0] = id;
        memcpy(r + 1, words + at, 16);
    }
    return 0;
}

static inline bool script_is_full(const void *self)
{
    (void)self;
    return script.full && backend.n >= script.full;
}

static inline int script_end(void *self, uint64_t *bytes)
{
    (void)self;
    *bytes = (BLOCK_HEAD + BLOCK_RECORD * backend.n) * sizeof(uint64_t);
    if (++script.ends == script.fail_end)
        return ENOSPC;
    if (script.at_end)
        script.at_end();
    if (script.before_end)
        _exit(0);
    backend.words[0] = backend.number;
    backend.words[1] = backend.n;
    if (write(backend.fd, backend.words, *bytes) != (ssize_t)*bytes)
        return errno;
    if (script.after_end)
        _exit(0);
    script.largest = backend.n > script.largest ? backend.n : script.largest;
    script.smallest = !script.smallest || backend.n < script.smallest ? backend.n : script.smallest;
    backend.n = 0;
    return 0;
}

static inline void script_forget(void *self, uint32_t id)
{
    (void)self, (void)id;
    script.forgotten++;
}

static inline void script_close(void *self, bool descriptors)
{
    (void)self;
    if (descriptors && backend.fd >= 0)
        close(backend.fd);
    backend.fd = -1;
}

static const struct gt_stream_packing scripted = {.open = script_open,
                                                  .put = script_put,
                                                  .is_full = script_is_full,
                                                  .end = script_end,
                                                  .forget = script_forget,
                                                  .close = script_close,
                                                  .path = blocks_path};

struct wanted {
    uint64_t id, n;
    bool bad;
};

static inline void check_record(void *arg, const uint64_t *r)
{
    struct wanted *w = arg;
    if (r[0] == w->id && (r[1] != w->id || r[2] != w->n++))
        w->bad = true;
}

/* The number of records of stream id in the blocks; -1: they are not what they should be. */
static inline int64_t check_blocks(uint32_t id)
{
    struct wanted w = {.id = id};
    int fd = open(blocks_path(NULL), O_RDONLY | O_CLOEXEC);
    off_t end = fd < 0 ? 0 : read_blocks(fd, 0, check_record, &w);
    if (fd >= 0 && end != lseek(fd, 0, SEEK_END))
        w.bad = true;
    if (fd >= 0)
        close(fd);
    return w.bad ? -1 : (int64_t)w.n;
}

#define NUMBER 77

static inline int begin(void **state)
{
    memset(&script, 0, sizeof script);
    return make_scratch(state);
}

static inline int end(void **state)
{
    free(backend.words);
    backend.words = NULL;
    return drop_scratch(state);
}

static inline struct gt_streams *create_packed(size_t limit)
{
    struct gt_streams *set = create_set(limit);
    gt_streams_pack(set, &scripted, NULL, NUMBER);
    return set;
}

#endif
