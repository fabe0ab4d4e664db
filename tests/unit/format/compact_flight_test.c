/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ring of a flight recorder: what it keeps. */
#include "compact_flight_util.h"

#include <pthread.h>

static void test_wrap(void **state)
{
    (void)state;
    const uint64_t sizes[] = {64 << 10, 100001, 1 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct flight l = {0};
        assert_int_equal(begin(&l, sizes[i], 0), 0);
        for (int lap = 0; lap < 60; lap++) {
            put_pieces(&l, (unsigned)(1 + 7 * lap % 40) * (i == 2 ? 8 : 1));
            uint64_t kept = kept_up_to(l.ended);
            assert_true(size_of(ring_path) <= (off_t)sizes[i]);
            if (kept < l.ended) /* it has come round */
                assert_true(size_of(path) >= (off_t)(sizes[i] / 16 * 15 - 3000));
        }
        assert_true(kept_up_to(l.ended) < l.ended);
        end(&l);
        unlink(ring_path);
    }
}

/* Segments of which one record is not older than the time. */
static void test_time(void **state)
{
    (void)state;
    struct flight l = {0};
    const uint64_t time = 200000, records = time / 10;
    assert_int_equal(begin(&l, GT_COMPACT_FLIGHT_MOST, time), 0);
    for (int i = 0; i < 60; i++) {
        put_pieces(&l, (unsigned)(1 + i % 7 * 40));
        uint64_t kept = kept_up_to(l.ended);
        assert_true(kept >= (records < l.ended ? records : l.ended));
        assert_true(kept <= records + 2 * records / 16 + 7 * PIECE);
    }
    assert_true(l.ended > 10 * records);
    assert_true(size_of(ring_path) <= 17 << 16); /* what is too old is overwritten */
    end(&l);
}

/* ---- the process goes on -------------------------------------------------------------------- */

static void test_resume(void **state)
{
    (void)state;
    struct flight l = {0};
    for (int i = 0; i < 40; i++) {
        assert_int_equal(begin(&l, 64 << 10, 0), 0);
        put_pieces(&l, 11);
        assert_true(kept_up_to(l.ended) >= (l.ended < 15000 ? l.ended : 15000));
        end(&l);
        assert_int_equal(begin(&l, 64 << 10, 0), 0);
        end(&l);
    }
    const struct gt_compact_flight_options o = {.dir = dir, .limit = {64 << 10, 0}};
    struct gt_compact_flight *f;
    assert_int_equal(gt_compact_flight_create(&o, &f), 0);
    assert_int_equal(gt_compact_flight_last_time(f, NUMBER, task_of(l.ended - 1)),
                     time_of(l.ended - 1));
    assert_int_equal(gt_compact_flight_last_time(f, NUMBER, 5), 0);
    gt_compact_flight_destroy(f);
}

/* ---- copied while it is written -------------------------------------------------------------- */

static _Atomic bool stop;

static void *write_on(void *arg)
{
    struct flight *l = arg;
    while (!stop)
        if (put_piece(l) != 0)
            return NULL;
    return end_block(l) == 0 ? l : NULL;
}

static void test_live(void **state)
{
    (void)state;
    struct flight l = {0};
    pthread_t thread;
    void *done;
    uint64_t last = 0;
    stop = false;
    assert_int_equal(begin(&l, 64 << 10, 0), 0);
    put_pieces(&l, 200);
    assert_int_equal(pthread_create(&thread, NULL, write_on, &l), 0);
    for (int i = 0; i < 100; i++) {
        unlink(path);
        assert_int_equal(gt_compact_file_create(path, &err), 0);
        int64_t n = gt_compact_flight_copy(dir, path, &err);
        assert_true(n > 0 || (n == GT_E_IO && strstr(err.text, "faster")));
        if (n < 0) /* the file has some of it, and is to be thrown away */
            continue;
        struct kept k = read_file();
        assert_true(k.next >= last);
        last = k.next;
    }
    stop = true;
    pthread_join(thread, &done);
    assert_non_null(done);
    kept_up_to(l.ended);
    end(&l);
}

enum { OVER = 400 };              /* pieces, more than a ring has */
static struct flight *overwrites; /* by the next payload that is read; NULL: nothing */
int __real_gt_compact_file_payload(struct gt_compact_file *f, size_t i, const uint8_t **payload,
                                   struct gt_error *e);
int __wrap_gt_compact_file_payload(struct gt_compact_file *f, size_t i, const uint8_t **payload,
                                   struct gt_error *e);

int __wrap_gt_compact_file_payload(struct gt_compact_file *f, size_t i, const uint8_t **payload,
                                   struct gt_error *e)
{
    struct flight *l = overwrites;
    overwrites = NULL;
    if (l)
        put_pieces(l, OVER);
    return __real_gt_compact_file_payload(f, i, payload, e);
}

/* The reader stops between the heads and the blocks, until all of them are overwritten. */
static void test_overwritten(void **state)
{
    (void)state;
    struct flight l = {0};
    assert_int_equal(begin(&l, 64 << 10, 0), 0);
    put_pieces(&l, OVER);
    overwrites = &l;
    assert_true(kept_up_to(2 * OVER * PIECE) > 0);
    assert_null(overwrites);
    end(&l);
}

/* ---- how much ------------------------------------------------------------------------------ */

static void test_parse(void **state)
{
    struct gt_compact_flight_limit l;
    (void)state;
    assert_int_equal(gt_compact_flight_parse("64M", &l, &err), 0);
    assert_int_equal(l.bytes, 64 << 20);
    assert_int_equal(l.time, 0);
    assert_int_equal(gt_compact_flight_parse("64m", &l, &err), 0);
    assert_int_equal(l.bytes, 64 << 20);
    assert_int_equal(gt_compact_flight_parse("1024K", &l, &err), 0);
    assert_int_equal(gt_compact_flight_parse("1G", &l, &err), 0);
    assert_int_equal(gt_compact_flight_parse("10s", &l, &err), 0);
    assert_int_equal(l.bytes, GT_COMPACT_FLIGHT_MOST);
    assert_int_equal(l.time, 10000000000ull);
    assert_int_equal(gt_compact_flight_parse("500ms", &l, &err), 0);
    assert_int_equal(l.time, 500000000);
    assert_int_equal(gt_compact_flight_parse("1.5M", &l, &err), 0);
    assert_int_equal(l.bytes, 3 << 19);
    static const char *const wrong[] = {"",
                                        "M",
                                        "64",
                                        "64mb",
                                        "64MB",
                                        "-1M",
                                        "0M",
                                        "0s",
                                        "1K",
                                        "2G",
                                        "s",
                                        "10 s",
                                        "+1M",
                                        " 1M",
                                        "1M ",
                                        "99999999999999999999s",
                                        "1h",
                                        "1025M",
                                        "18446744073709551615G",
                                        "9999999999s"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(gt_compact_flight_parse(wrong[i], &l, &err), GT_E_USAGE);
    assert_int_equal(gt_compact_flight_read(dir, &l, &err), GT_E_NOT_FOUND);
    assert_int_equal(
        gt_compact_flight_write(dir, &(struct gt_compact_flight_limit){5 << 20, 77}, &err), 0);
    assert_int_equal(gt_compact_flight_read(dir, &l, &err), 0);
    assert_int_equal(l.bytes, 5 << 20);
    assert_int_equal(l.time, 77);
}

static void put_block(struct gt_compact_flight *f, uint32_t task, uint64_t time, uint64_t first,
                      uint64_t second)
{
    const uint64_t words[] = {time, first, time + 1, second};
    uint64_t bytes;
    assert_int_equal(ring->put(f, task, words, 4), 0);
    assert_int_equal(ring->end(f, &bytes), 0);
}

/* The last piece of task 100 has two functions open before it. */
static int find_open(void *self, const struct gt_compact_piece *p)
{
    if (p->task == 100 && p->event->time >= 3000) {
        assert_true(p->first);
        assert_int_equal(p->n_open, 2);
        *(bool *)self = true;
    }
    return 0;
}

/* A recovery has records of a task that is not in the ring's last segment: they go on where the
 * task was. */
static void test_recovery_of_all_tasks(void **state)
{
    (void)state;
    struct flight l = {0};
    struct gt_compact_file file;
    struct gt_compact_segments s;
    struct gt_compact_unpacker *u;
    uint64_t there;
    bool found = false;
    begin(&l, 1 << 20, 32000); /* a segment is 1000 ns long */
    put_block(l.f, 100, 1000, gt_uftrace_entry(0, 0x1000), gt_uftrace_entry(1, 0x1010));
    put_block(l.f, 101, 2500, gt_uftrace_entry(0, 0x1000), gt_uftrace_exit(0, 0x1000));
    put_block(l.f, 101, 2600, gt_uftrace_entry(0, 0x1000), gt_uftrace_exit(0, 0x1000));
    ring->close(l.f, true);
    assert_int_equal(ring->open(l.f, NUMBER, true, &there), 0);
    assert_int_equal(there, 6);
    put_block(l.f, 100, 3000, gt_uftrace_exit(1, 0x1010), gt_uftrace_exit(0, 0x1000));
    end(&l);
    assert_int_equal(gt_compact_file_create(path, &err), 0);
    assert_int_equal(gt_compact_flight_copy(dir, path, &err), 8);
    assert_int_equal(gt_compact_unpacker_create(&u), 0);
    assert_int_equal(gt_compact_file_open(path, &file, &err), 0);
    assert_int_equal(gt_compact_segments_find(&file, &s), 0);
    assert_true(s.n >= 3);
    for (size_t i = 0; i < s.n; i++)
        assert_int_equal(
            gt_compact_segment_unpack(&file, &s.segment[i], u, find_open, &found, &err), 0);
    assert_true(found);
    gt_compact_segments_free(&s);
    gt_compact_file_close(&file);
    gt_compact_unpacker_destroy(u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_wrap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_resume, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_live, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_overwritten, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_recovery_of_all_tasks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_parse, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
