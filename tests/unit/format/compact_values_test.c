/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of calls in packed records come back as they were, also where blocks are cut or damaged.
 */
#include "compact_util.h"

/* What was put, and how much of it has come back. */
struct valued {
    struct gt_value_list list;
    uint8_t text[GT_VALUES_MOST][GT_COMPACT_MAX_VALUE];
};

enum { CALLS = 3000, KEPT = 64 };

struct run {
    struct log *l;
    uint64_t seed; /* the values of record i are those of seed + i */
    size_t valued[TASKS];
    size_t n;
};

/* Texts that repeat, and some that do not; values that stay, alternate, climb, or are anything. */
static void make_value(struct valued *v, size_t i, uint64_t call)
{
    static const uint16_t sizes[] = {0, 1, 7, 8, 9, 32, 255, GT_COMPACT_MAX_VALUE};
    struct gt_value *to = &v->list.value[i];
    *to = (struct gt_value){.kind = (uint8_t)random_number(GT_VALUE_BAD_ADDRESS + 1)};
    if (to->kind == GT_VALUE_WORD || to->kind == GT_VALUE_BAD_ADDRESS) {
        const uint64_t words[] = {0xffff000012345678,
                                  call & 1,
                                  64 * call,
                                  random_number(UINT32_MAX),
                                  UINT64_MAX - random_number(3),
                                  (uint64_t)random_number(9) << 60};
        to->word = words[random_number(6)];
    } else if (to->kind != GT_VALUE_ABSENT) {
        to->size = sizes[random_number(8)];
        to->bytes = v->text[i];
        memset(v->text[i], (int)random_number(3), to->size);
        if (to->size && random_number(4) == 0)
            v->text[i][to->size - 1] = (uint8_t)random_number(256);
    }
}

static void make_values(struct valued *v, uint64_t call)
{
    uint64_t before = seed;
    seed = call * 977;
    v->list.n = random_number(GT_VALUES_MOST + 1);
    for (size_t i = 0; i < v->list.n; i++)
        make_value(v, i, call);
    seed = before;
}

static void same_values(const struct gt_value_list *got, const struct gt_value_list *want)
{
    assert_int_equal(got->n, want->n);
    for (size_t i = 0; i < want->n; i++) {
        const struct gt_value *a = &got->value[i], *b = &want->value[i];
        assert_int_equal(a->kind, b->kind);
        assert_int_equal(a->word, b->word);
        assert_int_equal(a->size, b->size);
        if (b->size)
            assert_memory_equal(a->bytes, b->bytes, b->size);
    }
}

/* Each third record has values. */
static bool has_values(size_t i)
{
    return i % 3 == 1;
}

static int compare(void *self, const struct gt_compact_piece *p)
{
    static struct valued v;
    struct log *l = self;
    unsigned task = p->task - 1000;
    assert_true(task < TASKS && l->back[task] + p->n <= l->n[task]);
    for (size_t i = 0; i < p->n; i++) {
        size_t number = l->back[task]++;
        struct gt_compact_record r = gt_compact_unpacker_record(l->u, &p->event[i]);
        assert_int_equal(r.time, l->r[task][number].time);
        assert_int_equal(r.word, l->r[task][number].word);
        assert_int_equal(p->values != NULL, has_values(number));
        if (!p->values)
            continue;
        assert_int_equal(p->n, 1);
        make_values(&v, number);
        same_values(p->values, &v.list);
    }
    return 0;
}

static int unpack(struct log *l, size_t size)
{
    struct gt_compact_head h;
    struct gt_error err;
    int status = 0;
    uint64_t before = 0;
    gt_compact_unpacker_destroy(l->u);
    assert_int_equal(gt_compact_unpacker_create(&l->u), 0);
    memset(l->back, 0, sizeof l->back);
    for (size_t at = 0; at < size && status == 0; at += GT_COMPACT_HEAD + h.size) {
        assert_int_equal(gt_compact_head_read(l->file + at, l->size - at, &h), 0);
        assert_int_equal(h.before, before);
        before += h.records;
        status =
            gt_compact_unpacker_block(l->u, &h, l->file + at + GT_COMPACT_HEAD, compare, l, &err);
    }
    return status;
}

static void put_some(struct log *l, unsigned task, size_t from)
{
    static struct valued v;
    for (size_t i = from; i < l->n[task]; i++) {
        const struct gt_compact_record *r = &l->r[task][i];
        if (gt_compact_packer_is_full(l->p))
            end_block(l);
        if (!has_values(i)) {
            assert_int_equal(gt_compact_packer_put(l->p, 1000 + task, r, 1), 0);
            continue;
        }
        make_values(&v, i);
        assert_int_equal(gt_compact_packer_put_valued(l->p, 1000 + task, r, &v.list), 0);
    }
}

static struct log *make(bool exact, uint64_t segment, unsigned calls)
{
    struct log *l = log_create(exact, segment);
    for (unsigned turn = 0; turn < calls; turn++) {
        unsigned task = random_number(TASKS);
        size_t from = l->n[task];
        if (random_number(9) == 0)
            add(l, task, l->time, gt_uftrace_event(l->depth[task], GT_UFTRACE_EV_SCHED_OUT));
        if (random_number(9) == 0)
            add(l, task, l->time, (uint64_t)random_number(UINT32_MAX) << 20 | 6 << 3);
        if (l->depth[task] == 0 || (l->depth[task] < 30 && random_number(2)))
            enter(l, task, 0xffff80000000 + 64 * (uint64_t)random_number(9), 3);
        else
            leave(l, task, random_number(10) ? 3 : random_number(1000));
        put_some(l, task, from);
        if (random_number(200) == 0)
            end_block(l);
    }
    end_block(l);
    return l;
}

static void test_round_trip(void **state)
{
    (void)state;
    for (int exact = 0; exact < 2; exact++)
        for (uint64_t segment = 0; segment <= 500; segment += 500) {
            struct log *l = make(exact, segment, CALLS);
            assert_int_equal(unpack(l, l->size), 0);
            for (int i = 0; i < TASKS; i++)
                assert_int_equal(l->back[i], l->n[i]);
            log_destroy(l);
        }
}

/* Values that repeat cost next to nothing; those that climb neither. */
static void test_small(void **state)
{
    (void)state;
    struct log *l = log_create(true, 0);
    struct gt_value_list list = {.n = 3};
    for (uint64_t i = 0; i < 20000; i++) {
        list.value[0] =
            (struct gt_value){.kind = GT_VALUE_WORD, .word = 0xffff000000001000 + 8 * i};
        list.value[1] =
            (struct gt_value){.kind = GT_VALUE_BYTES, .size = 11, .bytes = "/etc/passwd"};
        list.value[2] = (struct gt_value){.kind = GT_VALUE_WORD, .word = i & 1};
        enter(l, 1, 0x1000, 5);
        leave(l, 1, 11);
        assert_int_equal(gt_compact_packer_put_valued(l->p, 1001, &l->r[1][2 * i], &list), 0);
        assert_int_equal(gt_compact_packer_put(l->p, 1001, &l->r[1][2 * i + 1], 1), 0);
    }
    end_block(l);
    assert_true(l->size < 1000);
    log_destroy(l);
}

static int count(void *self, const struct gt_compact_piece *p)
{
    assert_true(p->n == 1 && p->values && p->values->n == 1);
    ++*(size_t *)self;
    return 0;
}

/* A whole block of records that all have values, by a clock whose steps are of one size. */
static void test_full_block(void **state)
{
    (void)state;
    struct log *l = log_create(false, 0);
    const struct gt_value_list list = {.n = 1, .value = {{.kind = GT_VALUE_WORD, .word = 7}}};
    size_t n = 0, back = 0;
    struct gt_compact_head h;
    struct gt_error err;
    for (; !gt_compact_packer_is_full(l->p); n++) {
        struct gt_compact_record r = {1000 + 10 * n, n % 2 ? gt_uftrace_exit(0, 0x1000)
                                                           : gt_uftrace_entry(0, 0x1000)};
        assert_int_equal(gt_compact_packer_put_valued(l->p, 1, &r, &list), 0);
    }
    assert_int_equal(n, GT_PACKER_BLOCK);
    end_block(l);
    assert_int_equal(gt_compact_head_read(l->file, l->size, &h), 0);
    assert_int_equal(gt_compact_unpacker_create(&l->u), 0);
    assert_int_equal(
        gt_compact_unpacker_block(l->u, &h, l->file + GT_COMPACT_HEAD, count, &back, &err), 0);
    assert_int_equal(back, n);
    log_destroy(l);
}

static int take(void *self, const struct gt_compact_piece *p)
{
    volatile uint64_t sum = 0;
    (void)self;
    for (size_t i = 0; p->values && i < p->values->n; i++) {
        const struct gt_value *v = &p->values->value[i];
        for (size_t k = 0; k < v->size; k++)
            sum += ((const uint8_t *)v->bytes)[k];
    }
    return 0;
}

/* Damage is an error, or other values: it reads nothing outside. */
static void test_damage(void **state)
{
    (void)state;
    struct log *l = make(true, 0, 60);
    struct gt_compact_head h;
    struct gt_error err;
    assert_int_equal(gt_compact_head_read(l->file, l->size, &h), 0);
    for (unsigned i = 0; i < 20000; i++) {
        uint8_t *payload = malloc(h.size);
        memcpy(payload, l->file + GT_COMPACT_HEAD, h.size);
        for (unsigned k = 0; k <= i % 3; k++)
            payload[random_number(h.size)] = (uint8_t)random_number(256);
        gt_compact_unpacker_destroy(l->u);
        assert_int_equal(gt_compact_unpacker_create(&l->u), 0);
        gt_compact_unpacker_block(l->u, &h, payload, take, NULL, &err);
        free(payload);
    }
    for (uint32_t size = 0; size < h.size; size++) {
        struct gt_compact_head cut = h;
        cut.size = size;
        uint8_t *payload = malloc(size + 1);
        memcpy(payload, l->file + GT_COMPACT_HEAD, size);
        assert_true(gt_compact_unpacker_block(l->u, &cut, payload, take, NULL, &err) < 0);
        free(payload);
    }
    log_destroy(l);
}

static void test_refused(void **state)
{
    (void)state;
    struct log *l = log_create(true, 0);
    struct gt_value_list list = {.n = GT_VALUES_MOST + 1};
    const struct gt_compact_record r = {1, gt_uftrace_entry(0, 0x1000)};
    assert_int_equal(gt_compact_packer_put_valued(l->p, 1, &r, &list), GT_E_USAGE);
    list.n = 1;
    list.value[0] = (struct gt_value){.kind = GT_VALUE_BAD_ADDRESS + 1};
    assert_int_equal(gt_compact_packer_put_valued(l->p, 1, &r, &list), GT_E_USAGE);
    list.value[0] = (struct gt_value){.kind = GT_VALUE_BYTES, .size = GT_COMPACT_MAX_VALUE + 1};
    assert_int_equal(gt_compact_packer_put_valued(l->p, 1, &r, &list), GT_E_USAGE);
    const uint8_t *data;
    size_t size;
    assert_int_equal(gt_compact_packer_end_block(l->p, &data, &size), 0);
    assert_int_equal(size, 0);
    log_destroy(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_small),
        cmocka_unit_test(test_full_block), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
