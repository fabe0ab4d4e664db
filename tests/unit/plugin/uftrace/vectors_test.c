/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which blocks of a machine begin handlers. */
#include "calls/recorder/run/blocks.h"
#include "calls/recorder/run/system.h"
#include "calls/recorder/run/transfer.h"
#include "calls/recorder/run/vectors.h"
#include "recorder_double.h"
#include "track/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { SCOREBOARD = 2, REPORTS = 5 };

#define KERNEL UINT64_C(0xffff800008010000)
#define LOW    UINT64_C(0x40080000)

static struct gt_track_func anon = {.hi = UINT64_MAX, .flags = GT_FUNC_ANON},
                            named = {.lo = KERNEL, .hi = KERNEL + 0x10000},
                            by_name = {
                                .lo = KERNEL, .hi = KERNEL + 0x10000, .flags = GT_FUNC_VECTORS};

/* A machine whose first vCPU is recorded. */
static struct gt_vcpu *start(const char *target, int abi)
{
    struct gt_recorder *r = recorder_start(target, 1, abi, NULL);
    const struct gt_code first = {.pc = 0x1000, .fn = &anon};
    recorder_begin_vcpu(0);
    struct gt_vcpu *v = gt_vcpu_at(r, 0);
    gt_run_vcpu_begin(v, gt_run_vcpu_score(r, v, 0), &first);
    assert_true(v->begun);
    return v;
}

static struct gt_code block(uint64_t pc, const struct gt_track_func *fn)
{
    return (struct gt_code){.pc = pc, .size = 8, .insns = 2, .fn = fn};
}

/* The last exit that a block of 8 bytes leaves. */
static uint64_t mark_of(uint64_t pc, enum gt_code_exit exit, uint64_t target)
{
    static struct gt_code left[64];
    static size_t n;
    struct gt_code *code = &left[n++ % G_N_ELEMENTS(left)];
    *code = (struct gt_code){
        .pc = pc, .size = 8, .insns = 2, .exit = exit, .target = target, .fn = &named};
    return gt_code_last_exit(code);
}

/* Control arrives at a block with the last exit: a handler begins there, nothing is known yet, or
 * none ever does. */
static void expect_from(struct gt_vcpu *v, struct gt_code *code, uint64_t last_exit,
                        enum gt_track_vector vector)
{
    bool is = gt_run_machine_is_vector(v, code, last_exit);
    assert_int_equal(code->vector, vector);
    assert_int_equal(is, vector == GT_VECTOR_YES);
    memset(&v->rec->vectors, 0, sizeof v->rec->vectors); /* each by itself */
}

static void expect_of(struct gt_vcpu *v, const struct gt_track_func *fn, uint64_t pc,
                      uint64_t last_exit, enum gt_track_vector vector)
{
    struct gt_code code = block(pc, fn);
    expect_from(v, &code, last_exit, vector);
}

static void expect(struct gt_vcpu *v, uint64_t pc, uint64_t last_exit, enum gt_track_vector vector)
{
    expect_of(v, &anon, pc, last_exit, vector);
}

static void test_nothing_leads_there(void **state)
{
    (void)state;
    struct gt_vcpu *v = start("aarch64", SCOREBOARD);
    const uint64_t at = KERNEL + 0x80;
    const enum gt_track_vector yes = GT_VECTOR_YES, unknown = GT_VECTOR_UNKNOWN;
    expect(v, at, 0, unknown);                              /* the vCPU has run nothing yet */
    expect(v, at, gt_track_last_exit_of_func(&named), yes); /* out of another function */
    expect(v, at + 4, gt_track_last_exit_of_func(&named), unknown); /* no vector may be there */
    expect(v, at, gt_track_last_exit_of_jump(&named),
           unknown); /* an indirect jump leads anywhere */
    expect(v, at, mark_of(LOW, GT_EXIT_CALL, at), unknown);
    expect(v, at, mark_of(LOW, GT_EXIT_CALL, at + 4096), unknown); /* the same, elsewhere mapped */
    expect(v, at, mark_of(LOW, GT_EXIT_CALL, at + 4), yes);
    expect(v, at, mark_of(LOW, GT_EXIT_CALL_INDIRECT, 0), unknown);
    expect(v, at, mark_of(LOW, GT_EXIT_SYSCALL, 0), yes);
    expect(v, at, mark_of(at - 8, GT_EXIT_SYSCALL, 0), unknown); /* it has ended */
    expect(v, at, mark_of(LOW, GT_EXIT_SYSCALL, 0) | GT_LAST_EXIT_RESUME, unknown);
    expect(v, at, mark_of(KERNEL, GT_EXIT_EXCEPTION_RETURN, 0), yes);
    expect(v, at, mark_of(LOW, GT_EXIT_EXCEPTION_RETURN, 0), unknown);
    expect(v, LOW, mark_of(KERNEL, GT_EXIT_EXCEPTION_RETURN, 0), unknown); /* to a program */
}

static void test_resumed(void **state)
{
    (void)state;
    struct gt_vcpu *v = start("aarch64", SCOREBOARD);
    const uint64_t at = KERNEL + 0x80,
                   resumed = gt_track_last_exit_of_func(&named) | GT_LAST_EXIT_RESUME;
    expect_of(v, &named, at, resumed, GT_VECTOR_UNKNOWN); /* a fault has been mended */
    expect(v, at, resumed, GT_VECTOR_YES);
    expect(v, at, gt_track_last_exit_of_func(&anon) | GT_LAST_EXIT_RESUME, GT_VECTOR_YES);
}

/* A return leads to where a frame waits. */
static void test_return(void **state)
{
    (void)state;
    struct gt_vcpu *v = start("aarch64", SCOREBOARD);
    const uint64_t at = KERNEL + 0x80, last_exit = mark_of(KERNEL, GT_EXIT_RETURN, 0);
    struct gt_code waits = block(at, &anon), other = block(at + 0x80, &anon);
    waits.vector = other.vector = GT_VECTOR_LIKELY;
    struct gt_code first = block(at - 8, &named), called = block(KERNEL + 0x800, &by_name);
    expect(v, at, last_exit, GT_VECTOR_UNKNOWN); /* no frame: a thread may begin */
    first.exit = GT_EXIT_CALL_INDIRECT;
    gt_run_transfer_slowly(
        &(struct gt_recorder_transfer){v, &called, gt_code_last_exit(&first), 10, NULL});
    assert_int_equal(gt_stack_depth(v->thread.stack), 1);
    expect(v, at, last_exit, GT_VECTOR_UNKNOWN);
    expect(v, at + 0x80, last_exit, GT_VECTOR_UNKNOWN); /* its return address was replaced */
    expect_from(v, &waits, last_exit, GT_VECTOR_LIKELY);
    expect_from(v, &other, last_exit, GT_VECTOR_YES);
}

static void test_by_name(void **state)
{
    (void)state;
    struct gt_vcpu *v = start("x86_64", SCOREBOARD);
    const uint64_t at = KERNEL + 1; /* at any address */
    expect_of(v, &by_name, at, gt_track_last_exit_of_jump(&named), GT_VECTOR_YES);
    expect_of(v, &by_name, at, mark_of(LOW, GT_EXIT_CALL_INDIRECT, 0), GT_VECTOR_YES);
    expect_of(v, &by_name, at, mark_of(LOW, GT_EXIT_RETURN, 0), GT_VECTOR_UNKNOWN);
    expect_of(v, &named, at, gt_track_last_exit_of_func(&anon), GT_VECTOR_UNKNOWN);
    expect_of(v, &named, KERNEL + 8, gt_track_last_exit_of_func(&anon), GT_VECTOR_YES);
}

/* Where the host reports exceptions, system calls are left that are none to it. */
static void test_host_reports(void **state)
{
    (void)state;
    struct gt_vcpu *v = start("aarch64", REPORTS);
    const uint64_t at = KERNEL + 0x80;
    expect(v, at, gt_track_last_exit_of_func(&named), GT_VECTOR_UNKNOWN);
    expect(v, at, mark_of(LOW, GT_EXIT_CALL, at + 4), GT_VECTOR_UNKNOWN);
    expect(v, at, mark_of(KERNEL, GT_EXIT_EXCEPTION_RETURN, 0), GT_VECTOR_UNKNOWN);
    expect_of(v, &by_name, at, gt_track_last_exit_of_jump(&named), GT_VECTOR_UNKNOWN);
    expect(v, at, mark_of(LOW, GT_EXIT_SYSCALL, 0), GT_VECTOR_YES);
}

/* A PC's BIOS runs code that is not what it seems. */
static void test_bios(void **state)
{
    (void)state;
    struct gt_vcpu *v = start("x86_64", REPORTS);
    const uint64_t bios = 0xf0000;
    uint64_t call = mark_of(0x7c00, GT_EXIT_SYSCALL, 0);
    expect(v, bios, call, GT_VECTOR_YES);
    expect(v, bios, call | GT_LAST_EXIT_RESUME, GT_VECTOR_YES);
    v->rec->vectors = (struct gt_run_vectors){{bios}, 1};
    expect(v, bios, gt_track_last_exit_of_func(&named),
           GT_VECTOR_UNKNOWN); /* tables are aarch64's */
}

/* One vector shows where its table is; the others are known then. */
static void test_tables(void **state)
{
    (void)state;
    struct gt_vcpu *v = start("aarch64", SCOREBOARD);
    const uint64_t table = KERNEL + 0x800;
    uint64_t jump = gt_track_last_exit_of_jump(&named);
    struct gt_code first = block(table + 0x280, &anon), second = block(table + 0x480, &anon),
                   beyond = block(table + 0x800, &anon);
    assert_false(gt_run_machine_is_vector(v, &second, jump));
    assert_true(gt_run_machine_is_vector(v, &first, gt_track_last_exit_of_func(&named)));
    assert_int_equal(v->rec->vectors.n, 1);
    assert_int_equal(v->rec->vectors.table[0], table);
    assert_true(gt_run_machine_is_vector(v, &second, jump));
    assert_false(gt_run_machine_is_vector(v, &beyond, jump));
    assert_int_equal(v->rec->vectors.n, 1);
    for (unsigned i = 0; i < 2 * GT_VECTOR_TABLES; i++) {
        struct gt_code other = block(KERNEL + 0x100000 + 0x800 * i, &anon);
        assert_true(gt_run_machine_is_vector(v, &other, gt_track_last_exit_of_func(&named)));
    }
    assert_int_equal(v->rec->vectors.n, GT_VECTOR_TABLES);
}

/* What code leads to is no vector, once that is asked. */
static void test_known(void **state)
{
    (void)state;
    struct gt_vcpu *v = start("aarch64", SCOREBOARD);
    const uint64_t at = KERNEL + 0x80;
    gt_run_granule_at(v->rec, at)->call = gt_run_granule_bit(at);
    expect(v, at, gt_track_last_exit_of_func(&named), GT_VECTOR_NO);
    struct gt_code code = block(KERNEL + 0x100, &anon);
    code.vector = GT_VECTOR_NO;
    assert_false(gt_run_machine_is_vector(v, &code, gt_track_last_exit_of_func(&named)));
    code.vector = GT_VECTOR_YES;
    assert_true(gt_run_machine_is_vector(v, &code, gt_track_last_exit_of_jump(&named)));
}

static void test_not_recorded(void **state)
{
    (void)state;
    struct gt_vcpu *v = start("aarch64", SCOREBOARD);
    struct gt_code code = block(KERNEL + 0x80, &anon);
    code.vector = GT_VECTOR_YES;
    assert_true(gt_run_machine_is_vector(v, &code, gt_track_last_exit_of_func(&named)));
    v->begun = false;
    assert_false(gt_run_machine_is_vector(v, &code, gt_track_last_exit_of_func(&named)));
    v->begun = true;
}

/* What is left again and again without an exception return is no vector. */
static void test_three_chances(void **state)
{
    (void)state;
    struct gt_vcpu *v = start("aarch64", SCOREBOARD);
    struct gt_recorder_score *score = gt_run_vcpu_score(v->rec, v, 0);
    struct gt_code code = block(KERNEL + 0x80, &anon), good = block(KERNEL + 0x100, &anon);
    for (int i = 0; i < 10; i++) {
        score->last_exit = gt_track_last_exit_of_func(&named);
        assert_true(gt_run_machine_is_vector(v, &good, score->last_exit));
        gt_run_machine_enter_at(v, score, &good);
        assert_int_equal(score->last_exit, gt_track_last_exit_of_func(&anon));
        assert_true(gt_machine_leave(&v->thread, &score->last_exit, 10));
        assert_int_equal(score->last_exit,
                         gt_track_last_exit_of_func(&named) | GT_LAST_EXIT_RESUME);
    }
    for (int i = 0; i < 3; i++) {
        score->last_exit = gt_track_last_exit_of_func(&named);
        assert_true(gt_run_machine_is_vector(v, &code, score->last_exit));
        gt_run_machine_enter_at(v, score, &code);
        gt_machine_forget(&v->thread, 0);
    }
    assert_int_equal(code.vector, GT_VECTOR_NO);
    assert_false(gt_run_machine_is_vector(v, &code, gt_track_last_exit_of_func(&named)));
    assert_int_equal(good.vector, GT_VECTOR_YES);
    assert_int_equal(good.vector_left, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(test_##name, recorder_teardown)
    const struct CMUnitTest tests[] = {
        TEST(nothing_leads_there), TEST(resumed),       TEST(return ), TEST(by_name),
        TEST(host_reports),        TEST(bios),          TEST(tables),  TEST(known),
        TEST(not_recorded),        TEST(three_chances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
