/* SPDX-License-Identifier: GPL-2.0-or-later */
/* simpletrace records: written and read again, in either order, and cut at every byte. */
#include "events/library/read/simpletrace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct gt_events_simpletrace_order native = {GT_SIMPLETRACE_VERSION, false};
static const struct gt_events_simpletrace_order threads = {GT_SIMPLETRACE_VERSION_THREADS, false};

/* Expects a record, and that no part of it is one; from a copy of just its size. */
static void expect(const uint8_t *data, size_t size,
                   const struct gt_events_simpletrace_order *order,
                   struct gt_events_simpletrace_item *out)
{
    for (size_t n = 0; n <= size; n++) {
        uint8_t *copy = malloc(n ? n : 1);
        size_t need = 12345;
        memcpy(copy, data, n);
        memset(out, 0xaa, sizeof *out);
        int status = gt_events_simpletrace_get_record(copy, n, order, out, &need);
        if (n < size) {
            assert_int_equal(status, GT_SIMPLETRACE_SHORT);
            assert_true(need > n && need <= size);
        } else {
            assert_int_equal(status, (int)size);
            out->data = data + (out->data - copy);
        }
        free(copy);
    }
}

static void test_header(void **state)
{
    (void)state;
    uint8_t data[GT_SIMPLETRACE_FILE_HEADER_SIZE], swapped[sizeof data];
    struct gt_events_simpletrace_order order;
    assert_ptr_equal(gt_events_simpletrace_put_file_header(data, GT_SIMPLETRACE_VERSION),
                     data + sizeof data);
    for (size_t n = 0; n < sizeof data; n++)
        assert_int_equal(gt_events_simpletrace_get_file_header(data, n, &order),
                         GT_SIMPLETRACE_SHORT);
    assert_int_equal(gt_events_simpletrace_get_file_header(data, sizeof data, &order), sizeof data);
    assert_false(order.swapped);
    assert_true(order.version == 4);
    for (size_t i = 0; i < sizeof data; i++)
        swapped[i] = data[i / 8 * 8 + 7 - i % 8];
    assert_int_equal(gt_events_simpletrace_get_file_header(swapped, sizeof data, &order),
                     sizeof data);
    assert_true(order.swapped);
    swapped[8]++;
    assert_int_equal(gt_events_simpletrace_get_file_header(swapped, sizeof data, &order),
                     GT_SIMPLETRACE_BAD_MAGIC);
    data[0] = 0;
    assert_int_equal(gt_events_simpletrace_get_file_header(data, sizeof data, &order),
                     GT_SIMPLETRACE_BAD_MAGIC);
    gt_events_simpletrace_put_file_header(data, 3);
    assert_int_equal(gt_events_simpletrace_get_file_header(data, sizeof data, &order),
                     GT_SIMPLETRACE_BAD_VERSION);
    assert_true(order.version == 3);
}

static void test_mapping(void **state)
{
    (void)state;
    uint8_t data[64];
    struct gt_events_simpletrace_item item;
    uint8_t *end = gt_events_simpletrace_put_mapping(data, UINT64_C(0x123456789abcdef0), "name", 4);
    expect(data, (size_t)(end - data), &native, &item);
    assert_int_equal(item.type, GT_SIMPLETRACE_MAPPING);
    assert_true(item.id == UINT64_C(0x123456789abcdef0));
    assert_int_equal(item.size, 4);
    assert_memory_equal(item.data, "name", 4);
    end = gt_events_simpletrace_put_mapping(data, 1, "", 0);
    expect(data, (size_t)(end - data), &native, &item);
}

static void test_event(void **state)
{
    (void)state;
    uint8_t data[128], *at = data;
    struct gt_events_simpletrace_item item;
    at = gt_events_simpletrace_put_event(at, 7, UINT64_MAX, 8 + 4 + 3, 4242);
    at = gt_events_simpletrace_put_u64(at, (uint64_t)-5);
    at = gt_events_simpletrace_put_string(at, "abc", gt_events_simpletrace_string_length("abc"));
    expect(data, (size_t)(at - data), &native, &item);
    assert_true(item.id == 7 && item.timestamp == UINT64_MAX && item.pid == 4242 && item.tid == 0);
    assert_int_equal(item.size, 15);
    assert_int_equal(item.length, 24 + 15);
    assert_true((int64_t)gt_events_simpletrace_get_u64(item.data, false) == -5);
    assert_int_equal(gt_events_simpletrace_get_u32(item.data + 8, false), 3);
    assert_memory_equal(item.data + 12, "abc", 3);
}

static void test_dropped_and_threads(void **state)
{
    (void)state;
    uint8_t data[128], *end = gt_events_simpletrace_put_dropped(data, 9, 1, 77);
    struct gt_events_simpletrace_item item;
    size_t need;
    assert_int_equal(end - data, GT_SIMPLETRACE_DROPPED_SIZE);
    expect(data, (size_t)(end - data), &native, &item);
    assert_true(item.id == GT_SIMPLETRACE_DROPPED_ID);
    assert_true(gt_events_simpletrace_get_u64(item.data, false) == 77);
    end = gt_events_simpletrace_put_thread_event(data, 3, 4, 8, 5, 6);
    end = gt_events_simpletrace_put_u64(end, 1);
    expect(data, (size_t)(end - data), &threads, &item);
    assert_true(item.tid == 6 && item.pid == 5 && item.size == 8);
    assert_int_equal(gt_events_simpletrace_get_record(data, sizeof data, &native, &item, &need),
                     GT_SIMPLETRACE_BAD_TYPE);
    assert_int_equal(item.type, 2);
}

static void test_swapped(void **state)
{
    (void)state;
    uint8_t data[64];
    struct gt_events_simpletrace_order order = {GT_SIMPLETRACE_VERSION, true};
    struct gt_events_simpletrace_item item;
    uint8_t *at = gt_events_simpletrace_put_u64(data, __builtin_bswap64(1));
    at = gt_events_simpletrace_put_u64(at, __builtin_bswap64(2));
    at = gt_events_simpletrace_put_u64(at, __builtin_bswap64(3));
    at = gt_events_simpletrace_put_u32(at, __builtin_bswap32(24));
    at = gt_events_simpletrace_put_u32(at, __builtin_bswap32(4));
    expect(data, (size_t)(at - data), &order, &item);
    assert_true(item.id == 2 && item.timestamp == 3 && item.pid == 4 && item.size == 0);
}

static void test_lengths(void **state)
{
    (void)state;
    uint8_t data[64] = {0};
    struct gt_events_simpletrace_item item;
    size_t need;
    const uint32_t wrong[] = {0, 23, GT_SIMPLETRACE_LENGTH_LIMIT + 1, UINT32_MAX - 7, UINT32_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        gt_events_simpletrace_put_event(data, 1, 1, wrong[i] - GT_SIMPLETRACE_EVENT_COUNTED, 1);
        assert_int_equal(gt_events_simpletrace_get_record(data, sizeof data, &native, &item, &need),
                         GT_SIMPLETRACE_BAD_LENGTH);
        assert_int_equal(item.length, wrong[i]);
    }
    gt_events_simpletrace_put_thread_event(data, 1, 1, (uint32_t)-1, 1, 1);
    assert_int_equal(gt_events_simpletrace_get_record(data, sizeof data, &threads, &item, &need),
                     GT_SIMPLETRACE_BAD_LENGTH);
    gt_events_simpletrace_put_mapping(data, 1, "", 0);
    gt_events_simpletrace_put_u32(data + 16, GT_SIMPLETRACE_NAME_LIMIT + 1);
    assert_int_equal(gt_events_simpletrace_get_record(data, sizeof data, &native, &item, &need),
                     GT_SIMPLETRACE_BAD_LENGTH);
}

static void test_strings(void **state)
{
    (void)state;
    char longer[600];
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    assert_int_equal(gt_events_simpletrace_string_length(NULL), 0);
    assert_int_equal(gt_events_simpletrace_string_length(""), 0);
    assert_int_equal(gt_events_simpletrace_string_length(longer), 512);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_header),  cmocka_unit_test(test_mapping),
        cmocka_unit_test(test_event),   cmocka_unit_test(test_dropped_and_threads),
        cmocka_unit_test(test_swapped), cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
