/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packed records come back as they were: all kinds of records, segments and tasks. */
#include "compact_util.h"

static int compare(void *self, const struct gt_compact_piece *p)
{
    struct log *l = self;
    unsigned task = p->task - 1000;
    assert_true(task < TASKS && l->back[task] + p->n <= l->n[task]);
    for (size_t i = 0; i < p->n; i++) {
        struct gt_compact_record r = gt_compact_unpacker_record(l->u, &p->event[i]);
        const struct gt_compact_record *want = &l->r[task][l->back[task]++];
        assert_int_equal(r.time, want->time);
        assert_int_equal(r.word, want->word);
    }
    return 0;
}

static void check_back(struct log *l)
{
    struct gt_compact_head h;
    struct gt_error err;
    uint64_t before = 0;
    gt_compact_unpacker_destroy(l->u);
    assert_int_equal(gt_compact_unpacker_create(&l->u), 0);
    memset(l->back, 0, sizeof l->back);
    for (size_t at = 0; at < l->size; at += GT_COMPACT_HEAD + h.size) {
        assert_int_equal(gt_compact_head_read(l->file + at, l->size - at, &h), 0);
        assert_int_equal(h.before, before);
        before += h.records;
        assert_int_equal(
            gt_compact_unpacker_block(l->u, &h, l->file + at + GT_COMPACT_HEAD, compare, l, &err),
            0);
    }
    for (int i = 0; i < TASKS; i++)
        assert_int_equal(l->back[i], l->n[i]);
}

/* A program of a few functions that call each other by chance, in turns of several tasks. */
static void make_calls(struct log *l, unsigned turns)
{
    for (unsigned turn = 0; turn < turns; turn++) {
        unsigned task = random_number(TASKS), n = 1 + random_number(40);
        size_t from = l->n[task];
        for (unsigned i = 0; i < n; i++) {
            uint64_t step = random_number(10) ? 3 : random_number(1000);
            if (l->depth[task] == 0 || (l->depth[task] < 30 && random_number(2)))
                enter(l, task, 0xffff80000000 + 64 * (uint64_t)random_number(9), step);
            else
                leave(l, task, step);
        }
        if (random_number(20) == 0)
            add(l, task, l->time, gt_uftrace_event(l->depth[task], GT_UFTRACE_EV_SCHED_OUT));
        put(l, task, from);
        if (random_number(30) == 0)
            end_block(l);
    }
    end_block(l);
}

static void test_calls(void **state)
{
    (void)state;
    for (int exact = 0; exact < 2; exact++) {
        struct log *l = log_create(exact, 0);
        make_calls(l, 3000);
        assert_int_equal(l->n_segments, 1);
        check_back(l);
        log_destroy(l);
    }
}

/* Each segment stands for itself: the tasks' open functions come again. */
static void test_segments(void **state)
{
    (void)state;
    struct log *l = log_create(true, 2000);
    make_calls(l, 3000);
    assert_true(l->n_segments > 10 && l->n_segments < l->n_blocks);
    check_back(l);
    log_destroy(l);
}

/* The last segment, without those before it. */
static void test_begin_anywhere(void **state)
{
    (void)state;
    struct log *l = log_create(true, 2000);
    struct gt_compact_head h;
    struct gt_error err;
    size_t begin = 0;
    make_calls(l, 1000);
    check_back(l);
    for (size_t at = 0; at < l->size; at += GT_COMPACT_HEAD + h.size) {
        assert_int_equal(gt_compact_head_read(l->file + at, l->size - at, &h), 0);
        if (h.flags & GT_COMPACT_SEGMENT)
            begin = at;
    }
    assert_true(begin > 0);
    /* What has come back when the last segment begins. */
    gt_compact_unpacker_destroy(l->u);
    assert_int_equal(gt_compact_unpacker_create(&l->u), 0);
    memset(l->back, 0, sizeof l->back);
    for (size_t at = 0; at < begin; at += GT_COMPACT_HEAD + h.size) {
        gt_compact_head_read(l->file + at, l->size - at, &h);
        gt_compact_unpacker_block(l->u, &h, l->file + at + GT_COMPACT_HEAD, compare, l, &err);
    }
    gt_compact_unpacker_destroy(l->u);
    assert_int_equal(gt_compact_unpacker_create(&l->u), 0);
    gt_compact_head_read(l->file + begin, l->size - begin, &h);
    for (size_t at = begin; at < l->size; at += GT_COMPACT_HEAD + h.size) {
        gt_compact_head_read(l->file + at, l->size - at, &h);
        assert_int_equal(
            gt_compact_unpacker_block(l->u, &h, l->file + at + GT_COMPACT_HEAD, compare, l, &err),
            0);
    }
    for (int i = 0; i < TASKS; i++)
        assert_int_equal(l->back[i], l->n[i]);
    log_destroy(l);
}

/* Times that go back, far steps, words that are nothing, exits that match nothing, any bits. */
static void test_odd(void **state)
{
    (void)state;
    static const uint64_t times[] = {1, 0, UINT64_MAX, 5, 5, 1u << 31, UINT32_MAX, 1ull << 33, 7};
    for (int exact = 0; exact < 2; exact++) {
        struct log *l = log_create(exact, 500);
        for (unsigned i = 0; i < 4000; i++) {
            unsigned task = random_number(TASKS);
            size_t from = l->n[task];
            uint64_t word = (uint64_t)random_number(UINT32_MAX) << 32 ^ random_number(UINT32_MAX);
            if (random_number(3) == 0)
                word = gt_uftrace_exit(random_number(3), random_number(2));
            else if (random_number(3) == 0)
                word = gt_uftrace_entry(random_number(3), random_number(2));
            add(l, task, times[random_number(sizeof times / sizeof times[0])], word);
            put(l, task, from);
            if (random_number(50) == 0)
                end_block(l);
        }
        end_block(l);
        check_back(l);
        log_destroy(l);
    }
}

/* Down and up again, of one task. */
static void dive(struct log *l, unsigned task, uint64_t depth)
{
    size_t from = l->n[task];
    for (uint64_t i = 0; i < depth; i++)
        enter(l, task, 0x1000 + i % 7, 2);
    while (l->depth[task])
        leave(l, task, 2);
    put(l, task, from);
}

/* As deep as a record's depth can say, and far beyond; the second time, and another task, too: that
 * is predicted. */
static void test_deep(void **state)
{
    (void)state;
    static const uint64_t depths[] = {31, 32, 33, 64, 1023, 1024, 1025, 2049, DEEP};
    for (int exact = 0; exact < 2; exact++)
        for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++) {
            struct log *l = log_create(exact, 0);
            dive(l, 0, depths[i]);
            dive(l, 0, depths[i]);
            end_block(l);
            dive(l, 1, depths[i]);
            end_block(l);
            check_back(l);
            log_destroy(l);
        }
}

/* What repeats costs next to nothing, and tells nobody of another task's. */
static void test_small(void **state)
{
    (void)state;
    struct log *l = log_create(true, 0);
    for (unsigned i = 0; i < 60000; i++) {
        enter(l, 1, 0x1000, 5);
        leave(l, 1, 11);
    }
    put(l, 1, 0);
    end_block(l);
    assert_true(l->size < GT_COMPACT_HEAD + 120);
    check_back(l);
    assert_int_equal(gt_compact_unpacker_words(l->u), 2);
    assert_int_equal(gt_compact_unpacker_word(l->u, 1), 0x1000);
    log_destroy(l);
}

static uint64_t random_word(void)
{
    return (uint64_t)random_number(UINT32_MAX) << 32 ^ random_number(UINT32_MAX);
}

enum worst { ANY_WORD, ANY_CALL, ANY_EVENT, WORSTS };

/* Nothing that comes was there before. */
static void add_worst(struct log *l, unsigned task, enum worst how)
{
    uint64_t addr = random_word() >> 16;
    uint32_t depth = l->depth[task];
    if (how == ANY_WORD)
        add(l, task, random_word(), random_word());
    else if (how == ANY_EVENT)
        add(l, task, random_word(), gt_uftrace_event(depth, addr));
    else if (depth < 1000)
        add(l, task, random_word(), gt_uftrace_entry(l->depth[task]++, addr));
    else
        add(l, task, random_word(), gt_uftrace_entry(depth, addr));
}

/* A record has 16 bytes; one that nothing predicts costs no more than 20. */
static void test_worst(void **state)
{
    (void)state;
    for (int exact = 0; exact < 2; exact++)
        for (enum worst how = 0; how < WORSTS; how++) {
            struct log *l = log_create(exact, 0);
            unsigned records = 0;
            for (unsigned turn = 0; turn < 500; turn++) {
                unsigned task = random_number(TASKS);
                size_t from = l->n[task];
                for (unsigned i = 0; i < 300; i++, records++)
                    add_worst(l, task, how);
                put(l, task, from);
                if (gt_compact_packer_is_full(l->p))
                    end_block(l);
            }
            end_block(l);
            assert_in_range(l->size, 8 * records, 20 * records);
            check_back(l);
            log_destroy(l);
        }
}

static void test_empty(void **state)
{
    (void)state;
    struct log *l = log_create(true, 0);
    const uint8_t *data;
    size_t size = 1;
    assert_int_equal(gt_compact_packer_end_block(l->p, &data, &size), 0);
    assert_int_equal(size, 0);
    assert_int_equal(gt_compact_packer_put(l->p, 1, NULL, 0), 0);
    assert_int_equal(gt_compact_packer_end_block(l->p, &data, &size), 0);
    assert_int_equal(size, 0);
    log_destroy(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls), cmocka_unit_test(test_segments),
        cmocka_unit_test(test_odd),   cmocka_unit_test(test_begin_anywhere),
        cmocka_unit_test(test_deep),  cmocka_unit_test(test_small),
        cmocka_unit_test(test_worst), cmocka_unit_test(test_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
