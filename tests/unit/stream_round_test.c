/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records that are put in runs, and by the writer's own thread on its rounds. */
#include "base/stream.h"
#include "stream_util.h"

enum { RECORDS = 20000, ROUNDS = 10000 };

/* As many of a run of `n` records as there is room for. */
static uint64_t put_run(struct gt_stream *s, uint64_t first, uint64_t n)
{
    uint64_t *at = s->at, i = 0;
    for (; i < n && at != s->end; i++)
        at = gt_stream_put_in_run(s, at, s->id, first + i);
    if (at != s->at)
        gt_stream_publish(s, at);
    return i;
}

static void test_runs(void **state)
{
    (void)state;
    struct gt_streams *set = create_set(0);
    struct gt_stream *s = open_stream(set, 3);
    for (uint64_t n = 0, length = 1; n < RECORDS; length = length % 131 + 1) {
        n += put_run(s, n, length < RECORDS - n ? length : RECORDS - n);
        assert_int_equal(gt_stream_records(s), n);
        if (!gt_stream_has_room(s))
            gt_stream_next_chunk(s);
    }
    gt_streams_destroy(set, NULL);
    assert_int_equal(check_file(3), RECORDS);
}

/* A kill in a run loses what its line holds, and no more. */
static void test_published(void **state)
{
    (void)state;
    struct gt_streams *set = create_set(0);
    struct gt_stream *s = open_stream(set, 3);
    gt_stream_next_chunk(s);
    uint64_t *at = s->at;
    for (uint64_t i = 0; i < 6; i++)
        at = gt_stream_put_in_run(s, at, 3, i);
    gt_streams_flush(set);
    assert_int_equal(check_file(3), 4);
    gt_stream_publish(s, at);
    gt_streams_flush(set);
    assert_int_equal(check_file(3), 6);
    gt_streams_destroy(set, NULL);
}

struct rest {
    struct gt_stream *s;
    uint64_t n;
};

static void put_rest(void *self)
{
    struct rest *r = self;
    while (r->s && r->n < RECORDS && gt_stream_make_room(r->s))
        r->n += put_run(r->s, r->n, RECORDS - r->n);
}

/* The producer rests, and the writer's thread goes on for it: over many chunks. */
static void test_rounds(void **state)
{
    (void)state;
    struct gt_streams *set = create_set(0);
    struct rest rest = {0};
    gt_streams_on_round(set, put_rest, &rest);
    struct gt_stream *s = open_stream(set, 3);
    put_records(s, 0, 10);
    gt_streams_flush(set);
    rest.n = 10;
    __atomic_store_n(&rest.s, s, __ATOMIC_RELEASE);
    for (int i = 0; i < ROUNDS && check_file(3) < RECORDS; i++)
        gt_streams_flush(set); /* a round each */
    assert_int_equal(check_file(3), RECORDS);
    gt_streams_destroy(set, NULL);
}

/* Nothing waits there: neither for a stream that is none, nor where no chunk is free. */
static void test_no_room(void **state)
{
    (void)state;
    struct gt_stream none = {0};
    assert_false(gt_stream_make_room(&none));
    struct gt_streams *set = create_set(1);
    struct gt_stream *s = open_stream(set, 3), *other[32];
    assert_false(gt_stream_has_room(s));
    for (uint32_t i = 0; i < 32; i++)
        put_records(other[i] = open_stream(set, 10 + i), 0, 1);
    bool made = gt_stream_make_room(s);
    assert_int_equal(made, gt_stream_has_room(s));
    gt_streams_destroy(set, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SCRATCH(test_runs),
        WITH_SCRATCH(test_published),
        WITH_SCRATCH(test_rounds),
        WITH_SCRATCH(test_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
