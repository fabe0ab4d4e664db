/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small pieces of memory: apart from each other, aligned, zero, of any size, or none. */
#include "qemu/support/pages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

static bool no_memory;

void *__wrap_calloc(size_t n, size_t size)
{
    return no_memory ? NULL : __real_calloc(n, size);
}

static bool is_zero(const char *piece, size_t size)
{
    return piece[0] == 0 && memcmp(piece, piece + 1, size - 1) == 0;
}

/* Sizes from a byte to more than a batch has; each is filled, which another one would show. */
static void take_all(struct gt_support_arena *b)
{
    enum { PIECES = 3000, LARGE = 300000 };
    char *last = NULL;
    size_t last_size = 0;
    for (size_t i = 0; i < PIECES; i++) {
        size_t size = i % 1000 == 999 ? LARGE : 1 + i % 97;
        char *piece = gt_support_arena_take(b, size);
        assert_non_null(piece);
        assert_int_equal((uintptr_t)piece % sizeof(uint64_t), 0);
        assert_true(is_zero(piece, size));
        memset(piece, 0xff, size);
        assert_true(!last || last + last_size <= piece || piece + size <= last);
        last = piece;
        last_size = size;
    }
}

static void test_pieces(void **state)
{
    (void)state;
    struct gt_support_arena b = {0};
    for (int round = 0; round < 3; round++) {
        take_all(&b);
        gt_support_arena_clear(&b);
        assert_null(b.first);
    }
    gt_support_arena_clear(&b);
}

/* What is there stays good. */
static void test_no_memory(void **state)
{
    (void)state;
    struct gt_support_arena b = {0};
    char *piece = gt_support_arena_take(&b, 16);
    assert_non_null(piece);
    memset(piece, 0xff, 16);
    no_memory = true;
    assert_null(gt_support_arena_take(&b, 100000));
    assert_ptr_equal(gt_support_arena_take(&b, 16), piece + 16);
    no_memory = false;
    assert_non_null(gt_support_arena_take(&b, 100000));
    assert_int_equal((uint8_t)piece[15], 0xff);
    gt_support_arena_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
