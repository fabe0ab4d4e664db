/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Translation: which callbacks and inline operations a block gets, by host and options. */
#include "calls/recorder/run/blocks.h"
#include "recorder_double.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* QEMU's plugin ABI of hosts without score; with score; that also report exceptions. */
enum { BARE = 1, SCOREBOARD = 2, REPORTS = 5 };

/* Where vectors may be, and behind which there are bytes to look at. */
#define KERNEL UINT64_C(0xffff800008010080)

/* Translates a block of a program, or of a machine, and expects the hooks. */
#define EXPECT(r, at, hooks, ...)                                                                  \
    do {                                                                                           \
        struct gt_host_block block;                                                                \
        PROGRAM_BLOCK(&block, at, __VA_ARGS__);                                                    \
        assert_string_equal(translate(r, &block), hooks);                                          \
    } while (0)
#define EXPECT_MACHINE(r, pc, hooks, ...)                                                          \
    do {                                                                                           \
        struct gt_host_block block;                                                                \
        BLOCK(&block, pc, code_memory + (pc) % 4096, __VA_ARGS__);                                 \
        assert_string_equal(translate(r, &block), hooks);                                          \
    } while (0)

/* Code that a machine has before any of it is translated: what leads to a page's blocks is
 * forgotten where its code changes. */
#define LAY(pc, ...)                                                                               \
    do {                                                                                           \
        struct gt_host_block block;                                                                \
        BLOCK(&block, pc, code_memory + (pc) % 4096, __VA_ARGS__);                                 \
    } while (0)

/* ---- programs ------------------------------------------------------------------------------ */

static void expect_scoreboard(struct gt_recorder *r)
{
    EXPECT(r, ALPHA, "block regs transfer(2)", NOP, B_COND(28));
    EXPECT(r, ALPHA + 8, "block add 2; 1 last_exit call", NOP, BL(FUNCTION - 12)); /* not taken */
    EXPECT(r, ALPHA + 16, "block regs transfer(1)", NOP);                          /* it returns */
    EXPECT(r, ALPHA + 32, "block add 2", NOP, NOP);                                /* taken */
    EXPECT(r, ALPHA + 40, "block add 1; 0 last_exit return", RET);                 /* run into */
    EXPECT(r, ALPHA + 32, "block add 1; 0 last_exit indirect call", BLR);
    EXPECT(r, ALPHA + 36, "block counted_transfer unless own; block add 1", NOP); /* both ways */
    EXPECT(r, ALPHA + 32, "block add 1", BR);
    EXPECT(r, ALPHA + 32, "block add 1", BL(4)); /* reads the pc */
    EXPECT(r, ALPHA + 32, "block add 1", SVC);
    EXPECT(r, ALPHA + 32, "block add 1", ERET);
    /* Nothing is seen to lead there: the C library or the kernel does. */
    EXPECT(r, ALPHA + 128, "block counted_transfer unless own; block add 1", NOP);
    EXPECT(r, BETA + 4, "block counted_transfer unless own; block add 1", NOP);
    EXPECT(r, UNNAMED, "block counted_transfer unless own; block add 1", NOP);
}

static void test_program(void **state)
{
    (void)state;
    expect_scoreboard(recorder_start("aarch64", 0, SCOREBOARD, NULL));
}

/* Where control also comes by a branch, a look each time would cost more than a condition. */
static void test_mixed_block_entries(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("aarch64", 0, SCOREBOARD, NULL);
    EXPECT(r, ALPHA, "block regs transfer(1)", B_COND(8));
    EXPECT(r, ALPHA + 4, "block add 1; 0 last_exit call", BL(FUNCTION));
    EXPECT(r, ALPHA + 8, "block counted_transfer unless own; block add 1", NOP);
    EXPECT(r, UNNAMED, "block counted_transfer unless own; block add 1", B(64));
    EXPECT(r, UNNAMED + 64, "block counted_transfer unless own; block add 1", NOP);
}

/* Whether a jump is a call is the tracker's decision. */
static void test_tail_calls(void **state)
{
    (void)state;
    static const char *const words[] = {"tail-calls=off", NULL};
    struct gt_recorder *r = recorder_start("aarch64", 0, SCOREBOARD, NULL);
    assert_true(r->tracker.tail_calls);
    EXPECT(r, ALPHA, "block regs transfer(1)", B(FUNCTION));
    recorder_stop(r);
    r = recorder_start("aarch64", 0, SCOREBOARD, words);
    assert_false(r->tracker.tail_calls);
    EXPECT(r, ALPHA, "block regs transfer(1)", B(FUNCTION));
    recorder_stop(r);
    expect_scoreboard(recorder_start("aarch64", 0, SCOREBOARD, words));
}

static void test_two_functions_in_a_block(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("aarch64", 0, SCOREBOARD, NULL);
    EXPECT(r, BETA - 8,
           "block counted_transfer unless own; block add 2; 2 regs transfer_inside; 3 last_exit "
           "return",
           NOP, NOP, NOP, RET);
}

static struct gt_track_func *register_handler(struct gt_recorder *r)
{
    uint64_t pc = (uintptr_t)code_page + HANDLER;
    pthread_mutex_lock(&r->lock);
    gt_support_modules_at(&r->code.modules, pc, code_page + HANDLER);
    struct gt_track_func *fn = gt_support_modules_handler(&r->code.modules, pc);
    gt_run_code_is_handler(r, fn);
    pthread_mutex_unlock(&r->lock);
    return fn;
}

static void test_signal_handler(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("aarch64", 0, SCOREBOARD, NULL);
    EXPECT(r, HANDLER, "block regs transfer(1)", NOP);
    const struct gt_track_func *fn = register_handler(r);
    assert_true(fn->flags & GT_FUNC_HANDLER);
    const struct gt_code *early = gt_run_cached_block_at(r, (uintptr_t)code_page + HANDLER)->code;
    assert_true(early->slow_flags & GT_CODE_SLOW);
    EXPECT(r, HANDLER, "block regs special_block", NOP, NOP);
    EXPECT(r, HANDLER + 8, "block counted_transfer unless own; block add 1", NOP);
    EXPECT(r, HANDLER - 4, "block counted_transfer unless own; block add 1; 1 regs special_block",
           NOP, NOP);
    EXPECT(r, BETA, "block regs transfer(1); 0 last_exit jump to handler", B(FUNCTION));
}

static void test_contexts(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("aarch64", 0, SCOREBOARD, NULL);
    EXPECT(r, GETCONTEXT, "block regs transfer(2); 0 stores -; 1 stores -", NOP, NOP);
    EXPECT(r, UNWIND_GETIP, "block regs transfer(2); 0 loads -; 1 loads -", NOP, NOP);
    EXPECT(r, ALPHA, "0 loads -; 1 loads -; 1 regs -; 2 regs -; block regs transfer(3)", NOP,
           LOADS_SP, NOP);
    /* An unwinder ends in the frame that catches, by a jump. */
    EXPECT(r, UNWIND_RESUME, "block regs transfer(1); 0 last_exit return", BR);
}

static void test_host_clock(void **state)
{
    (void)state;
    static const char *const words[] = {"clock=host", NULL};
    struct gt_recorder *r = recorder_start("aarch64", 0, SCOREBOARD, words);
    EXPECT(r, ALPHA, "block regs transfer(2)", NOP, B_COND(12));
    EXPECT(r, ALPHA + 16, "", NOP);
    EXPECT(r, ALPHA + 128, "block counted_transfer unless own", NOP);
}

static void test_program_without_scoreboard(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("aarch64", 0, BARE, NULL);
    assert_true(r->hot.sparse);
    EXPECT(r, ALPHA, "block exec block; block add shared 2", NOP, B_COND(12));
    EXPECT(r, ALPHA + 16, "block add shared 2", NOP, NOP);
    EXPECT(r, ALPHA + 16, "block exec block; block add shared 1", RET);
    EXPECT(r, ALPHA + 128, "block add shared 1", NOP); /* seen where its block calls or returns */
    EXPECT(r, UNNAMED, "block exec block; block add shared 1", NOP);
    EXPECT(r, BETA - 8, "block add shared 3; 2 exec block", NOP, NOP, NOP);
    register_handler(r);
    EXPECT(r, HANDLER, "block exec special_block; block add shared 1", NOP);
}

/* Before QEMU 8.0, memory callbacks of an instruction that ends its block are called for what
 * follows, and after their memory is free. */
static void test_last_access_without_scoreboard(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("aarch64", 0, BARE, NULL);
    EXPECT(r, GETCONTEXT, "block exec block; block add shared 2; 0 accesses -; 1 accesses -", MSR,
           STORE);
    EXPECT(r, GETCONTEXT + 8, "block exec block; block add shared 2; 0 accesses -", STORE, MSR);
    EXPECT(r, GETCONTEXT + 16, "block exec block; block add shared 2; 0 accesses -", STORE, RET);
    EXPECT(r, ALPHA, "0 accesses -; 1 exec -; block exec block; block add shared 2", STORE,
           LOADS_SP);
}

/* A callback at each block counts; so it does where threads may come. */
static void test_each_block_without_scoreboard(void **state)
{
    (void)state;
    static const char *const clocks[][2] = {{"clock=insn", NULL}, {"clock=host", NULL}};
    for (size_t i = 0; i < G_N_ELEMENTS(clocks); i++) {
        struct gt_recorder *r = recorder_start("aarch64", 0, BARE, clocks[i]);
        assert_false(r->hot.sparse);
        EXPECT(r, ALPHA, "block exec block", NOP, B_COND(12));
        EXPECT(r, ALPHA + 16, "block exec block", NOP);
        recorder_stop(r);
    }
}

/* ---- machines ------------------------------------------------------------------------------ */

/* That has begun elsewhere. */
static struct gt_recorder *machine_start(unsigned vcpus, int abi, const char *const *words)
{
    struct gt_recorder *r = recorder_start("aarch64", vcpus, abi, words);
    r->resets = (struct gt_run_resets){.known = true, .first = 64};
    return r;
}

/* Each arrival where the machine began may be a reset. */
static void test_reset(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("aarch64", 1, SCOREBOARD, NULL);
    EXPECT_MACHINE(r, KERNEL, "block exec -; block exec unknown_block", B_COND(64));
    EXPECT_MACHINE(r, KERNEL + 0x480, "block exec unknown_block", B_COND(64));
    EXPECT_MACHINE(r, KERNEL, "block exec -; block exec unknown_block", B_COND(64));
    assert_true(r->resets.known && r->resets.first == KERNEL);
}

static void expect_machine(struct gt_recorder *r)
{
    LAY(KERNEL, B_COND(64), BR);
    LAY(KERNEL + 64, BL(0x200));
    LAY(KERNEL + 64 + 0x200, RET);
    LAY(KERNEL + 0x404, NOP);
    LAY(KERNEL + 0x480, NOP, ERET);
    LAY(KERNEL + 0x500, SVC);
    LAY(KERNEL + 0x604, BR);
    /* A call may end before it, on the page that cannot be looked at. */
    EXPECT_MACHINE(r, KERNEL & ~UINT64_C(4095), "block exec transfer(1)", NOP);
    EXPECT_MACHINE(r, KERNEL, "block exec unknown_block", B_COND(64));
    EXPECT_MACHINE(r, KERNEL + 64, "block add 1; 0 last_exit call", BL(0x200));
    EXPECT_MACHINE(r, KERNEL + 64 + 0x200, "block exec transfer(1); 0 last_exit return", RET);
    EXPECT_MACHINE(r, KERNEL + 4, "block add 1; 0 last_exit jump", BR);
    EXPECT_MACHINE(r, KERNEL + 0x404,
                   "block counted_transfer unless jump; block add 1; 0 last_exit own", NOP);
    EXPECT_MACHINE(r, KERNEL + 0x480,
                   "block exec unknown_block; 1 last_exit exception return; 1 regs -", NOP, ERET);
    EXPECT_MACHINE(r, KERNEL + 0x500, "block exec unknown_block; 0 last_exit system call; 0 regs -",
                   SVC);
    /* A known indirect jump goes on in its own function. */
    EXPECT_MACHINE(
        r, KERNEL + 0x604,
        "block counted_transfer unless jump; block add 1; 0 last_exit own; 0 last_exit jump", BR);
}

static void test_machine(void **state)
{
    (void)state;
    static const char *const off[] = {"discontinuities=off", NULL};
    struct gt_recorder *r = machine_start(1, SCOREBOARD, NULL);
    assert_null(r->events.discontinuity);
    expect_machine(r);
    recorder_stop(r);
    r = machine_start(1, REPORTS, off);
    assert_null(r->events.discontinuity);
    expect_machine(r);
}

/* The host reports interrupts and exceptions: a handler changes the last exit before it begins. */
static void test_machine_that_reports(void **state)
{
    (void)state;
    struct gt_recorder *r = machine_start(1, REPORTS, NULL);
    assert_non_null(r->events.discontinuity);
    LAY(KERNEL, B_COND(64), BR);
    LAY(KERNEL + 0x404, NOP);
    EXPECT_MACHINE(r, KERNEL, "block counted_unknown_block unless own; block add 1", B_COND(64));
    EXPECT_MACHINE(r, KERNEL + 4, "block add 1; 0 last_exit jump", BR);
    EXPECT_MACHINE(r, KERNEL + 0x404,
                   "block counted_transfer unless jump; block add 1; 0 last_exit own", NOP);
}

static void test_stack_pointers(void **state)
{
    (void)state;
    struct gt_recorder *r = machine_start(1, REPORTS, NULL);
    LAY(KERNEL, NOP, LOADS_SP, NOP);
    LAY(KERNEL + 0x80, COPIES_SP, STORES_SP);
    LAY(KERNEL + 0x100, LOADS_SP, NOP);
    EXPECT_MACHINE(r, KERNEL,
                   "block counted_unknown_block unless own; block add 3; "
                   "0 loads -; 1 loads -; 1 regs -; 2 regs -",
                   NOP, LOADS_SP, NOP);
    EXPECT_MACHINE(r, KERNEL + 0x80,
                   "block counted_unknown_block unless own; block add 2; 1 stores -", COPIES_SP,
                   STORES_SP);
    /* A block ends with the load: the next one reads what was loaded. */
    EXPECT_MACHINE(r, KERNEL + 0x100,
                   "block counted_unknown_block unless own; block add 1; 0 loads -; 0 regs -",
                   LOADS_SP);
    EXPECT_MACHINE(r, KERNEL + 0x104, "block add 1; 0 regs -", NOP);
}

static void test_machine_without_scoreboard(void **state)
{
    (void)state;
    struct gt_recorder *r = machine_start(1, BARE, NULL);
    LAY(KERNEL, B_COND(64), RET);
    LAY(KERNEL + 64, NOP);
    EXPECT_MACHINE(r, KERNEL, "block exec unknown_block; block add shared 1", B_COND(64));
    EXPECT_MACHINE(r, KERNEL + 64, "block add shared 1", NOP);
    EXPECT_MACHINE(r, KERNEL + 4, "block exec block; block add shared 1", RET);
    recorder_stop(r);
    /* Several vCPUs: the host's clock, so no counts. */
    r = machine_start(2, BARE, NULL);
    LAY(KERNEL, B_COND(64), RET);
    LAY(KERNEL + 64, NOP);
    EXPECT_MACHINE(r, KERNEL, "block exec unknown_block", B_COND(64));
    EXPECT_MACHINE(r, KERNEL + 64, "", NOP);
    EXPECT_MACHINE(r, KERNEL + 4, "block exec block", RET);
}

/* A kernel that writes code again at an address: nothing leads there yet. */
static void test_replaced_code(void **state)
{
    (void)state;
    struct gt_recorder *r = machine_start(1, SCOREBOARD, NULL);
    LAY(KERNEL, B_COND(64), NOP);
    EXPECT_MACHINE(r, KERNEL, "block exec unknown_block", B_COND(64));
    EXPECT_MACHINE(r, KERNEL + 4, "block add 1", NOP);
    LAY(KERNEL, NOP, NOP);
    EXPECT_MACHINE(r, KERNEL + 4, "block counted_transfer unless own; block add 1", NOP);
}

static void test_empty_block(void **state)
{
    (void)state;
    struct gt_host_block b;
    struct gt_recorder *r = recorder_start("aarch64", 0, SCOREBOARD, NULL);
    host_double_block(&b, 0x1000);
    assert_string_equal(translate(r, &b), "");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(test_##name, recorder_teardown)
    const struct CMUnitTest tests[] = {
        TEST(program),
        TEST(mixed_block_entries),
        TEST(tail_calls),
        TEST(two_functions_in_a_block),
        TEST(signal_handler),
        TEST(contexts),
        TEST(host_clock),
        TEST(program_without_scoreboard),
        TEST(last_access_without_scoreboard),
        TEST(each_block_without_scoreboard),
        TEST(machine),
        TEST(reset),
        TEST(machine_that_reports),
        TEST(stack_pointers),
        TEST(machine_without_scoreboard),
        TEST(replaced_code),
        TEST(empty_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
