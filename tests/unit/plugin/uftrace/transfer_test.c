/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Transfers, from translated code to the records on disk: the same on each kind of host. */
#include "calls/recorder/installed.h"
#include "recorder_double.h"
#include "recording/directory/dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { BARE = 1, SCOREBOARD = 2, REPORTS = 5 };

#define KERNEL UINT64_C(0xffff800008010000)

static struct gt_recorder *install(const char *target, unsigned vcpus, int abi,
                                   const char *const *words)
{
    struct gt_recorder *r = recorder_install(target, vcpus, abi, words);
    recorder_begin_vcpu(0);
    return r;
}

/* Runs a block on vCPU 0, translated as QEMU does: once before. */
static void run(struct gt_host_block *b)
{
    host_double_translate(b);
    host_double_run(b, 0);
}
#define RUN(at, ...)                                                                               \
    do {                                                                                           \
        struct gt_host_block block;                                                                \
        PROGRAM_BLOCK(&block, at, __VA_ARGS__);                                                    \
        run(&block);                                                                               \
    } while (0)
#define RUN_MACHINE(pc, ...)                                                                       \
    do {                                                                                           \
        struct gt_host_block block;                                                                \
        BLOCK(&block, pc, code_memory + (pc) % 4096, __VA_ARGS__);                                 \
        run(&block);                                                                               \
    } while (0)

/* Ends the recording. Its records of the task: "TIME>OFFSET " an entry, "<" an exit, OFFSET from
 * `base` on, in hex; free with g_free. */
static char *records(struct gt_recorder *r, uint32_t tid, uint64_t base)
{
    struct gt_uftrace_dat *dat;
    struct gt_uftrace_record rec;
    GString *text = g_string_new(NULL);
    host_double.events->exit(host_double.self);
    assert_int_equal(gt_uftrace_dat_open(r->output.dir.path, tid, &dat, NULL), 0);
    while (gt_uftrace_dat_next(dat, &rec, NULL) == 1) {
        uint64_t offset = (rec.addr - base) & GT_UFTRACE_ADDR_MASK;
        const char *kinds = rec.type == GT_UFTRACE_EVENT ? "!!" : "><";
        g_string_append_printf(text, "%llu%c%llx ", (unsigned long long)rec.time,
                               kinds[rec.type == GT_UFTRACE_EXIT],
                               rec.type == GT_UFTRACE_EVENT ? (unsigned long long)rec.addr
                                                            : (unsigned long long)offset);
    }
    gt_uftrace_dat_close(dat);
    return g_string_free(text, FALSE);
}

static char *program_records(struct gt_recorder *r)
{
    return records(r, (uint32_t)gettid(), (uintptr_t)code_page);
}

/* alpha calls beta twice, in a loop, and returns to code without a symbol. */
static void run_program(void)
{
    RUN(UNNAMED, BL(-UNNAMED));
    RUN(ALPHA, NOP, NOP, BL(FUNCTION - 8));
    RUN(BETA, NOP, RET);
    RUN(ALPHA + 12, NOP, B(-8)); /* behind the call */
    RUN(ALPHA + 8, BL(FUNCTION - 8));
    RUN(BETA, NOP, RET);
    RUN(ALPHA + 12, NOP, NOP, RET);
    RUN(UNNAMED + 4, NOP);
}

/* Code without a symbol that nobody calls is no function. */
#define PROGRAM "2>0 5>100 7<100 10>100 12<100 15<0 "

static void expect_program(struct gt_recorder *r, const char *expected)
{
    g_autofree char *text = program_records(r);
    assert_string_equal(text, expected);
}

static void test_calls(void **state)
{
    (void)state;
    static const char *const insn[] = {"clock=insn", NULL};
    static const struct {
        int abi;
        const char *const *words;
    } hosts[] = {
        {BARE, NULL}, {BARE, insn}, {SCOREBOARD, NULL}, {SCOREBOARD, insn}, {REPORTS, NULL}};
    for (size_t i = 0; i < G_N_ELEMENTS(hosts); i++) {
        struct gt_recorder *r = install("aarch64", 0, hosts[i].abi, hosts[i].words);
        run_program();
        expect_program(r, PROGRAM);
        assert_int_equal(r->totals.calls, 3);
        assert_int_equal(r->totals.matched, 3);
        recorder_stop(r);
    }
}

/* By the host's clock: the same calls, at times that do not fall. */
static void test_host_clock(void **state)
{
    (void)state;
    static const char *const words[] = {"clock=host", NULL};
    static const int abis[] = {BARE, SCOREBOARD};
    for (size_t i = 0; i < G_N_ELEMENTS(abis); i++) {
        struct gt_recorder *r = install("aarch64", 0, abis[i], words);
        run_program();
        g_autofree char *text = program_records(r);
        g_auto(GStrv) each = g_strsplit(text, " ", 0);
        static const char *const order[] = {">0", ">100", "<100", ">100", "<100", "<0"};
        uint64_t before = 0;
        assert_int_equal(g_strv_length(each), G_N_ELEMENTS(order) + 1);
        for (size_t k = 0; k < G_N_ELEMENTS(order); k++) {
            char *rest;
            uint64_t time = g_ascii_strtoull(each[k], &rest, 10);
            assert_string_equal(rest, order[k]);
            assert_true(time >= before);
            before = time;
        }
        recorder_stop(r);
    }
}

/* alpha jumps to beta, which returns to alpha's caller. */
static void test_tail_calls(void **state)
{
    (void)state;
    static const char *const words[] = {"tail-calls=off", NULL};
    static const int abis[] = {BARE, SCOREBOARD};
    for (size_t i = 0; i < 2 * G_N_ELEMENTS(abis); i++) {
        struct gt_recorder *r = install("aarch64", 0, abis[i / 2], i % 2 ? words : NULL);
        RUN(UNNAMED, BL(-UNNAMED));
        RUN(ALPHA, NOP, B(FUNCTION - 4));
        RUN(BETA, NOP, RET);
        RUN(UNNAMED + 4, NOP, RET);
        g_autofree char *text = program_records(r);
        assert_string_equal(text, i % 2 ? "2>0 6<0 " : "2>0 4<0 4>100 6<100 ");
        recorder_stop(r);
    }
}

static void test_depth(void **state)
{
    (void)state;
    static const char *const words[] = {"depth=1", NULL};
    struct gt_recorder *r = install("aarch64", 0, SCOREBOARD, words);
    run_program();
    expect_program(r, "2>0 15<0 ");
    assert_int_equal(r->totals.counters[GT_COUNT_BEYOND_DEPTH], 2);
}

/* Scoreboard entries move when a vCPU comes that QEMU has no room for; it discards all code then.
 */
static void move_scoreboard(struct gt_recorder *r)
{
    host_double_move_scoreboard();
    r->events.flush(r);
}

static void test_scoreboard_moves(void **state)
{
    (void)state;
    struct gt_recorder *r = install("aarch64", 0, SCOREBOARD, NULL);
    RUN(ALPHA, NOP, NOP, BL(FUNCTION - 8));
    move_scoreboard(r);
    RUN(BETA, NOP, RET);
    move_scoreboard(r);
    RUN(ALPHA + 12, NOP, NOP, RET);
    g_autofree char *text = program_records(r);
    assert_string_equal(text, "1>0 4>100 6<100 9<0 ");
}

/* A vCPU beyond the limit runs, and is not recorded; nothing else suffers. */
static void test_too_many_vcpus(void **state)
{
    (void)state;
    struct gt_recorder *r = install("aarch64", 0, BARE, NULL);
    struct gt_host_block b;
    recorder_begin_vcpu(r->hot.max_vcpus);
    PROGRAM_BLOCK(&b, ALPHA, NOP, NOP, BL(FUNCTION - 8));
    host_double_translate(&b);
    host_double_run(&b, r->hot.max_vcpus);
    host_double_run(&b, r->hot.max_vcpus + 7);
    host_double.events->vcpu_exit(r, r->hot.max_vcpus);
    assert_int_equal(r->totals.refused, 1);
    assert_int_equal(r->totals.tasks, 0);
    r->hot.insns = 0;
    run_program();
    expect_program(r, PROGRAM);
    assert_non_null(strstr(host_double.messages->str, "1 tasks are not recorded"));
}

/* What runs after the end is not recorded. */
static void test_after_the_end(void **state)
{
    (void)state;
    struct gt_recorder *r = install("aarch64", 0, SCOREBOARD, NULL);
    RUN(ALPHA, NOP, NOP, BL(FUNCTION - 8));
    host_double.events->exit(r);
    RUN(BETA, NOP, RET);
    RUN(ALPHA + 12, NOP, NOP, RET);
    assert_int_equal(r->totals.calls, 1); /* the thread's first function */
    g_autofree char *text = program_records(r);
    assert_string_equal(text, "1>0 4<0 ");
}

/* An exception: concluded where the host does not report it. */
static void test_handler(void **state)
{
    (void)state;
    static const int abis[] = {BARE, SCOREBOARD, REPORTS};
    for (size_t i = 0; i < G_N_ELEMENTS(abis); i++) {
        struct gt_recorder *r = install("aarch64", 1, abis[i], NULL);
        RUN_MACHINE(KERNEL + 0x10, NOP, BL(0x300));
        RUN_MACHINE(KERNEL + 0x314, NOP, NOP, B_COND(16));
        if (abis[i] == REPORTS)
            host_double.events->discontinuity(r, 0, GT_DISCON_INTERRUPT, KERNEL + 0x320,
                                              KERNEL + 0x880);
        RUN_MACHINE(KERNEL + 0x880, NOP, ERET); /* a vector */
        RUN_MACHINE(KERNEL + 0x320, NOP, RET);  /* where it was */
        RUN_MACHINE(KERNEL + 0x18, NOP);
        g_autofree char *text = records(r, 1, KERNEL);
        /* The callback before the return finds its block counted only where there are score. */
        const char *bare = "3>314 6>880 6<880 10<314 ", *score = "3>314 6>880 8<880 10<314 ";
        assert_string_equal(text, abis[i] == BARE ? bare : score);
        assert_int_equal(r->totals.counters[GT_COUNT_HANDLERS], 1);
        recorder_stop(r);
    }
}

/* Others read the time of each transfer. */
static void test_live_clock(void **state)
{
    (void)state;
    struct gt_recorder *r = install("aarch64", 1, SCOREBOARD, NULL);
    RUN_MACHINE(KERNEL + 0x10, NOP, BL(0x300));
    RUN_MACHINE(KERNEL + 0x314, NOP, NOP, RET);
    assert_int_equal(*r->hot.live.now, 3);
    RUN_MACHINE(KERNEL + 0x18, NOP);
    assert_int_equal(*r->hot.live.now, 6);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(test_##name, recorder_teardown)
    const struct CMUnitTest tests[] = {
        TEST(calls),         TEST(host_clock),       TEST(tail_calls),
        TEST(depth),         TEST(scoreboard_moves), TEST(too_many_vcpus),
        TEST(after_the_end), TEST(handler),          TEST(live_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
