/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The block cache alone, with a sink that counts the blocks it has described. */
#include "execlog/plugin/recorder.h"
#include "host_double.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct gt_exlog recorder;
static int described, forgotten;
static struct gt_exlog_block *needed;

static void *describe(struct gt_exlog *e, const struct gt_exlog_block *b)
{
    (void)e;
    described++;
    return (void *)(uintptr_t)b;
}

static void forget(struct gt_exlog *e, void *block)
{
    (void)e, (void)block;
    forgotten++;
}

static void set_needed(struct gt_exlog_vcpu *v)
{
    (void)v;
    if (needed)
        needed->needed = true;
}

static const struct gt_exlog_sink sink = {
    .describe = describe, .forget = forget, .set_needed = set_needed};

static int setup(void **state)
{
    (void)state;
    described = forgotten = 0;
    needed = NULL;
    host_double_start("aarch64", 0, 7);
    if (gt_exlog_init(&recorder, &host_double.info, NULL) < 0)
        return -1;
    recorder.sink = &sink;
    recorder.n_vcpus = 1;
    recorder.vcpus[0].known = true;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    gt_exlog_fini(&recorder);
    assert_int_equal(forgotten, described);
    host_double_stop();
    return 0;
}

/* A block of two instructions, both logged unless `step` says otherwise of the first one. */
static struct gt_exlog_block *add(uint64_t pc, uint32_t code, enum gt_exlog_step step)
{
    const struct gt_exlog_insn insns[] = {
        {.pc = pc, .opcode = 1, .code = code, .disassembly = "one", .step = step},
        {.pc = pc + 4, .opcode = 2, .disassembly = "two", .step = GT_EXLOG_LOG},
    };
    return gt_exlog_cache_block(&recorder, insns, 2, step == GT_EXLOG_LOG ? 2 : 1);
}

static void equal_blocks_are_one(void **state)
{
    (void)state;
    struct gt_exlog_block *b = add(0x1000, 5, GT_EXLOG_LOG);
    assert_ptr_equal(add(0x1000, 5, GT_EXLOG_LOG), b);
    assert_ptr_not_equal(add(0x1004, 5, GT_EXLOG_LOG), b);
    assert_ptr_not_equal(add(0x1000, 5, GT_EXLOG_SKIP), b);
    assert_int_equal(described, 3);
    assert_int_equal(b->n, 2);
    assert_int_equal(b->lines[1].pc, 0x1004);
    assert_int_equal(b->lines[1].number, 1);
    assert_string_equal(b->lines[1].disassembly, "two");
    assert_ptr_equal(b->lines[1].block, b);
}

static void the_first_line_begins_with_its_block(void **state)
{
    (void)state;
    assert_int_equal(add(0x1000, 5, GT_EXLOG_LOG)->begun, 1);
    const struct gt_exlog_block *later = add(0x1000, 5, GT_EXLOG_SKIP);
    assert_int_equal(later->begun, 0);
    const struct gt_exlog_insn two = {
        .pc = 0x1004, .opcode = 2, .disassembly = "two", .step = GT_EXLOG_LOG};
    assert_ptr_not_equal(gt_exlog_cache_block(&recorder, &two, 1, 1), later);
    assert_int_equal(gt_exlog_add_stop(&recorder, "0x2000", NULL), 0);
    assert_int_equal(add(0x2000, 5, GT_EXLOG_LOG)->begun, 0);
}

static void a_flush_frees_what_is_not_needed(void **state)
{
    (void)state;
    struct gt_exlog_block *b = add(0x1000, 5, GT_EXLOG_LOG);
    add(0x2000, 5, GT_EXLOG_LOG);
    needed = b;
    gt_exlog_on_flush(&recorder);
    assert_int_equal(forgotten, 1);
    assert_false(b->needed);
    assert_ptr_equal(add(0x1000, 5, GT_EXLOG_LOG), b);
    needed = NULL;
    gt_exlog_on_flush(&recorder);
    assert_int_equal(forgotten, 2);
}

enum { STALE = 1024 /* until memory is reclaimed */ };

/* Code at one address is written again and again: from some time on no memory is allocated. */
static void rewritten_code_uses_memory_again(void **state)
{
    (void)state;
    GHashTable *seen = g_hash_table_new(NULL, NULL);
    for (uint32_t i = 0; i < 4 * STALE; i++) {
        gt_exlog_cache_reclaim(&recorder);
        g_hash_table_add(seen, add(0x1000, i, GT_EXLOG_LOG));
    }
    assert_in_range(g_hash_table_size(seen), STALE, STALE + 2);
    assert_in_range(forgotten, 2 * STALE, 3 * STALE);
    g_hash_table_destroy(seen);
}

static void a_needed_block_is_not_used_again(void **state)
{
    (void)state;
    needed = add(0x1000, 1000000, GT_EXLOG_LOG);
    for (uint32_t i = 0; i < 4 * STALE; i++) {
        gt_exlog_cache_reclaim(&recorder);
        assert_ptr_not_equal(add(0x1000, i, GT_EXLOG_LOG), needed);
    }
}

/* A thread may still execute the old code; in a machine another address space may have it. */
static void with_threads_or_in_a_machine_no_block_is_stale(void **state)
{
    (void)state;
    recorder.n_vcpus = 2;
    for (uint32_t i = 0; i < STALE + 1; i++)
        add(0x1000, i, GT_EXLOG_LOG);
    recorder.n_vcpus = 1;
    recorder.host.system = true;
    for (uint32_t i = 0; i < STALE + 1; i++)
        add(0x2000, i, GT_EXLOG_LOG);
    assert_int_equal(recorder.cache.stale->len, 0);
}

static void a_longer_block_is_the_same_code(void **state)
{
    (void)state;
    const struct gt_exlog_insn one = {
        .pc = 0x1000, .opcode = 1, .code = 5, .disassembly = "one", .step = GT_EXLOG_LOG};
    add(0x1000, 5, GT_EXLOG_LOG);
    gt_exlog_cache_block(&recorder, &one, 1, 1);
    assert_int_equal(recorder.cache.stale->len, 0);
    add(0x1000, 6, GT_EXLOG_LOG);
    assert_int_equal(recorder.cache.stale->len, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(equal_blocks_are_one),
        TEST(the_first_line_begins_with_its_block),
        TEST(a_flush_frees_what_is_not_needed),
        TEST(rewritten_code_uses_memory_again),
        TEST(a_needed_block_is_not_used_again),
        TEST(with_threads_or_in_a_machine_no_block_is_stale),
        TEST(a_longer_block_is_the_same_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
