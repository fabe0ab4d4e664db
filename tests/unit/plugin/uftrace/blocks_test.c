/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descriptions of blocks: which are the same, and where they lie. */
#include "calls/recorder/run/blocks.h"
#include "recorder_double.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct gt_track_func fn = {.lo = 0x1000, .hi = 0x2000}, other = {.lo = 0x1000, .hi = 0x2000};

static struct gt_code plain(uint64_t pc)
{
    return (struct gt_code){.pc = pc, .size = 8, .insns = 2, .fn = &fn};
}

static struct gt_code ending(uint64_t pc, enum gt_code_exit exit)
{
    struct gt_code code = plain(pc);
    code.exit = exit;
    return code;
}

static struct gt_code *keep(struct gt_recorder *r, struct gt_code want)
{
    struct gt_code *code = gt_run_cache_block(r, &want);
    assert_non_null(code);
    assert_int_equal((uintptr_t)code % 32, 0);
    return code;
}

static size_t kept_at(struct gt_recorder *r, uint64_t pc)
{
    size_t n = 0;
    for (const struct gt_run_cached_block *k = gt_run_cached_block_at(r, pc); k;
         k = gt_run_cached_block_next(k)) {
        assert_int_equal(k->pc, pc);
        n++;
    }
    return n;
}

static uintptr_t line_of(const struct gt_code *code)
{
    return (uintptr_t)code / 64;
}

/* A block that is translated again has its old description, with what was found out since. */
static void test_same(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("aarch64", 1, 2, NULL);
    struct gt_code *code = keep(r, plain(0x1000));
    code->vector = GT_VECTOR_YES;
    gt_select_code_enter(code);
    assert_ptr_equal(keep(r, plain(0x1000)), code);
    assert_true(code->vector == GT_VECTOR_YES && gt_select_code_is_entered(code));
    assert_int_equal(kept_at(r, 0x1000), 1);
    assert_int_equal(kept_at(r, 0x1004), 0);
    assert_int_equal(kept_at(r, 0x1040), 0);
}

static void test_different(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("aarch64", 1, 2, NULL);
    struct gt_code variants[] = {plain(0x1000), plain(0x1000), plain(0x1000), plain(0x1000),
                                 plain(0x1000), plain(0x1000), plain(0x1004)};
    variants[1].size = 12;
    variants[2].insns = 3;
    variants[3].exit = GT_EXIT_RETURN;
    variants[4].fn = &other;
    variants[5].slow_flags = 1 << GT_CODE_LEVEL_SHIFT;
    struct gt_code *kept[G_N_ELEMENTS(variants)];
    for (size_t i = 0; i < G_N_ELEMENTS(variants); i++) {
        kept[i] = keep(r, variants[i]);
        for (size_t k = 0; k < i; k++)
            assert_ptr_not_equal(kept[k], kept[i]);
    }
    assert_int_equal(kept_at(r, 0x1000), 6);
    assert_int_equal(kept_at(r, 0x1004), 1);
    for (size_t i = 0; i < G_N_ELEMENTS(variants); i++)
        assert_ptr_equal(keep(r, variants[i]), kept[i]);
    struct gt_code target = ending(0x1000, GT_EXIT_CALL), same = target;
    target.target = 0x5000;
    assert_ptr_not_equal(keep(r, target), keep(r, same));
}

/* A block that comes back lies in one cache line with the one that it comes back to. */
static void test_lines(void **state)
{
    (void)state;
    static const enum gt_code_exit exits[] = {GT_EXIT_CALL, GT_EXIT_CALL_INDIRECT, GT_EXIT_SYSCALL};
    struct gt_recorder *r = recorder_start("aarch64", 1, 2, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(exits); i++) {
        uint64_t pc = 0x1000 + 64 * i;
        const struct gt_code *call = keep(r, ending(pc, exits[i]));
        const struct gt_code *first = keep(r, plain(0x3000 + 64 * i));
        assert_int_not_equal(line_of(first), line_of(call));
        const struct gt_code *after = keep(r, plain(pc + 8));
        assert_int_equal(line_of(after), line_of(call));
        assert_ptr_not_equal(after, call);
        /* Another block there takes another place. */
        assert_int_not_equal(line_of(keep(r, ending(pc + 8, GT_EXIT_RETURN))), line_of(call));
    }
    /* Others fill lines by twos. */
    const struct gt_code *one = keep(r, ending(0x7000, GT_EXIT_RETURN));
    const struct gt_code *two = keep(r, plain(0x7100)), *three = keep(r, plain(0x7200));
    assert_true((line_of(one) == line_of(two)) != (line_of(two) == line_of(three)));
}

static void test_handler(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("aarch64", 0, 2, NULL);
    static struct gt_track_func handler = {.lo = 0x5000, .hi = 0x5100};
    struct gt_code code = plain(0x5000), inside = plain(0x5008), foreign = plain(0x5000);
    code.fn = inside.fn = &handler;
    code.entry = foreign.entry = true;
    struct gt_code *first = keep(r, code), *second = keep(r, inside), *third = keep(r, foreign);
    assert_int_equal(first->slow_flags, 0);
    gt_run_code_is_handler(r, &handler);
    assert_true(handler.flags & GT_FUNC_HANDLER);
    assert_int_equal(first->slow_flags, GT_CODE_SLOW);
    assert_int_equal(second->slow_flags,
                     0); /* only its first instruction is where signals arrive */
    assert_int_equal(third->slow_flags, 0);
    code.size = 4;
    code.insns = 1;
    assert_int_equal(keep(r, code)->slow_flags, GT_CODE_SLOW);
}

/* More than a batch of memory has room for. */
static void test_many(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    struct gt_recorder *r = recorder_start("aarch64", 1, 2, NULL);
    struct gt_code *first = keep(r, plain(0x1000));
    for (uint64_t i = 1; i < MANY; i++)
        keep(r, plain(0x1000 + 8 * i));
    assert_ptr_equal(keep(r, plain(0x1000)), first);
    for (uint64_t i = 1; i < MANY; i += 1000)
        assert_int_equal(gt_run_cached_block_at(r, 0x1000 + 8 * i)->code->pc, 0x1000 + 8 * i);
}

/* Each has its own. */
static void test_recorders(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("aarch64", 1, 2, NULL);
    struct gt_code *code = keep(r, plain(0x1000));
    recorder_stop(r);
    struct gt_recorder *second = recorder_start("aarch64", 1, 2, NULL);
    assert_int_equal(kept_at(second, 0x1000), 0);
    assert_ptr_not_equal(keep(second, plain(0x1000)), code);
    assert_ptr_equal(gt_run_cached_block_at(r, 0x1000)->code, code);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(test_##name, recorder_teardown)
    const struct CMUnitTest tests[] = {
        TEST(same), TEST(different), TEST(lines), TEST(handler), TEST(many), TEST(recorders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
