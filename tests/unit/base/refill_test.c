/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A parser gets the source's bytes in order, whatever pieces they come in, and learns where the
 * source ends or fails. */
#include "base/refill.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { AHEAD = 64 };

/* Byte i of the source is i * 7; each read gives at most `piece`, each second one EINTR first. */
struct source {
    size_t at, size, piece;
    size_t most;  /* of one request */
    size_t calls; /* that gave something */
    bool interrupts, interrupted;
    int errnum; /* after the last byte; 0: the end */
};

static ssize_t read_source(void *self, void *out, size_t n)
{
    struct source *s = self;
    s->interrupted = s->interrupts && !s->interrupted;
    errno = s->interrupted ? EINTR : s->errnum;
    if (s->interrupted || (s->at == s->size && s->errnum))
        return -1;
    s->most = n > s->most ? n : s->most;
    s->calls++;
    if (n > s->piece)
        n = s->piece;
    if (n > s->size - s->at)
        n = s->size - s->at;
    for (size_t i = 0; i < n; i++)
        ((uint8_t *)out)[i] = (uint8_t)((s->at + i) * 7);
    s->at += n;
    return (ssize_t)n;
}

static void check(const struct gt_bytes_refill *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_int_equal(gt_bytes_refill_at(r)[i], (uint8_t)((r->offset + i) * 7));
}

static void start(struct gt_bytes_refill *r, struct source *s)
{
    assert_int_equal(gt_bytes_refill_init(r, read_source, s, "it", AHEAD, NULL), 0);
}

static void test_pieces(void **state)
{
    (void)state;
    static const size_t pieces[] = {1, 3, AHEAD, 100000}, sizes[] = {1, 8, 63, 64, 65, 200, 5000};
    for (size_t p = 0; p < 4; p++)
        for (int interrupts = 0; interrupts < 2; interrupts++) {
            struct source s = {.size = 20000, .piece = pieces[p], .interrupts = interrupts};
            struct gt_bytes_refill r;
            start(&r, &s);
            size_t k = 0, n = sizes[0];
            for (; gt_bytes_refill_need(&r, n, NULL) == 1; n = sizes[++k % 7]) {
                check(&r, n);
                gt_bytes_refill_take(&r, n);
            }
            assert_int_equal(r.offset + gt_bytes_refill_left(&r), s.size);
            assert_true(gt_bytes_refill_left(&r) < n);
            check(&r, gt_bytes_refill_left(&r));
            assert_int_equal(gt_bytes_refill_need(&r, gt_bytes_refill_left(&r), NULL), 1);
            assert_int_equal(gt_bytes_refill_need(&r, gt_bytes_refill_left(&r) + 1, NULL), 0);
            gt_bytes_refill_free(&r);
        }
}

/* What is at hand is given without a read; a source at its end is not asked again. */
static void test_asks(void **state)
{
    (void)state;
    struct source s = {.size = 3 * AHEAD, .piece = SIZE_MAX};
    struct gt_bytes_refill r;
    start(&r, &s);
    for (size_t i = 0; i < 2 * AHEAD; i++) {
        assert_int_equal(gt_bytes_refill_need(&r, 1, NULL), 1);
        assert_int_equal(s.calls, i / AHEAD + 1);
        gt_bytes_refill_take(&r, 1);
    }
    assert_int_equal(s.most, AHEAD);
    assert_int_equal(gt_bytes_refill_need(&r, AHEAD + 1, NULL), 0);
    size_t calls = s.calls;
    assert_int_equal(gt_bytes_refill_need(&r, AHEAD + 1, NULL), 0);
    assert_int_equal(s.calls, calls);
    gt_bytes_refill_free(&r);
    s = (struct source){.size = 100000, .piece = SIZE_MAX};
    start(&r, &s);
    assert_int_equal(gt_bytes_refill_need(&r, 90000, NULL), 1);
    assert_int_equal(s.calls, 1);
    check(&r, 90000);
    gt_bytes_refill_free(&r);
}

static void test_restart(void **state)
{
    (void)state;
    struct source s = {.size = 1000, .piece = 50};
    struct gt_bytes_refill r;
    start(&r, &s);
    assert_int_equal(gt_bytes_refill_need(&r, 1001, NULL), 0);
    gt_bytes_refill_take(&r, 700);
    s.at = 123;
    gt_bytes_refill_restart(&r, 123);
    assert_int_equal(gt_bytes_refill_left(&r), 0);
    assert_int_equal(gt_bytes_refill_need(&r, 100, NULL), 1);
    assert_int_equal(r.offset, 123);
    check(&r, 100);
    gt_bytes_refill_free(&r);
}

static void test_failure(void **state)
{
    (void)state;
    struct source s = {.size = 10, .piece = 4, .errnum = EIO};
    struct gt_bytes_refill r;
    struct gt_error err = {0};
    start(&r, &s);
    assert_int_equal(gt_bytes_refill_need(&r, 3, &err), 1);
    gt_bytes_refill_take(&r, 3);
    assert_int_equal(gt_bytes_refill_need(&r, 8, &err), GT_E_IO);
    assert_string_equal(err.text, "it offset 10: cannot be read: Input/output error");
    assert_int_equal(gt_bytes_refill_left(&r), 7);
    check(&r, 7);
    assert_int_equal(gt_bytes_refill_need(&r, SIZE_MAX, &err), GT_E_NOMEM);
    assert_string_equal(err.text, "it: out of memory");
    check(&r, 7);
    gt_bytes_refill_free(&r);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_asks),
        cmocka_unit_test(test_restart),
        cmocka_unit_test(test_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
