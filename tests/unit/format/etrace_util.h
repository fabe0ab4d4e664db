/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For the tests of the etrace codec: a reader over bytes in memory, given in pieces. */
#ifndef TESTS_ETRACE_UTIL_H
#define TESTS_ETRACE_UTIL_H

#include "etrace/format/etrace.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

struct source {
    const uint8_t *data;
    size_t size, at;
    size_t piece; /* bytes a read gives at most */
    int fail;     /* errno at the end instead of an end */
    bool interrupted;
};

static inline ssize_t source_read(void *self, void *out, size_t n)
{
    struct source *s = self;
    s->interrupted = !s->interrupted;
    if (s->interrupted) {
        errno = EINTR;
        return -1;
    }
    size_t left = s->size - s->at;
    n = n < left ? n : left;
    n = n < s->piece ? n : s->piece;
    if (!n && s->fail) {
        errno = s->fail;
        return -1;
    }
    if (n)
        memcpy(out, s->data + s->at, n);
    s->at += n;
    return (ssize_t)n;
}

static inline struct gt_etrace_reader *reader_over(struct source *s)
{
    struct gt_etrace_reader *r = NULL;
    assert_int_equal(gt_etrace_reader_create(source_read, s, "made.etrace", &r, NULL), 0);
    return r;
}

/* An INFO packet, and an ARCH packet of a guest of those bits: what streams begin with. */
static inline void put_start(struct gt_bytes_writer *w, uint8_t bits)
{
    const struct gt_etrace_info info = {0};
    const struct gt_etrace_arch arch = {{183, bits, 0}, {62, 64, 0}};
    gt_etrace_put_info(w, &info);
    gt_etrace_put_arch(w, &arch);
}

enum { START_SIZE = 8 + 12 + 8 + 16 };

#endif
