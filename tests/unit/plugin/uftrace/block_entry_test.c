/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which blocks need a callback when they begin: each enum gt_translate_block_entry, and what blocks
 * lead to.
 */
#include "calls/recorder/run/blocks.h"
#include "calls/recorder/translate/block_entry.h"
#include "calls/recorder/translate/memory.h"
#include "recorder_double.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { BARE = 1, SCOREBOARD = 2, REPORTS = 5 };

/* Not at a page's begin, so that there are bytes to look at; vectors of aarch64 may be there. */
#define KERNEL UINT64_C(0xffff800008010080)

/* What is known of a block, and the bytes before it. */
enum known {
    FLOW = 1,
    CALL = 2,
    OTHER = 4,
    ENTRY = 8,
    ANON = 16,
    FOLLOWS = 32, /* a call may end before it */
    UNSEEN = 64,  /* its bytes cannot be looked at */
    SAVER = 128,
    VECTORS = 256, /* by its function's name */
    YES = 512,     /* it is a vector */
    NO = 1024,     /* it is none */
};

static const char *const names[] = {
    [GT_BLOCK_ENTRY_NONE] = "none",       [GT_BLOCK_ENTRY_LOOK] = "look",
    [GT_BLOCK_ENTRY_MIXED] = "mixed",     [GT_BLOCK_ENTRY_JUMP] = "jump",
    [GT_BLOCK_ENTRY_UNKNOWN] = "unknown",
};

static uint8_t vector_after;

/* Of a block at the address of which that is known. */
static const char *arrival(struct gt_recorder *r, uint64_t pc, unsigned known)
{
    uint8_t *bytes = code_memory + pc % 4096;
    struct gt_track_func fn = {.flags = (known & ANON ? GT_FUNC_ANON : 0u) |
                                        (known & SAVER ? GT_FUNC_SAVER : 0u) |
                                        (known & VECTORS ? GT_FUNC_VECTORS : 0u)};
    struct gt_code code = {.pc = pc,
                           .fn = &fn,
                           .entry = (known & ENTRY) != 0,
                           .vector = known & YES  ? GT_VECTOR_YES
                                     : known & NO ? GT_VECTOR_NO
                                                  : GT_VECTOR_UNKNOWN};
    struct gt_host_insn ref = {.pc = pc, .size = 4, .host_addr = known & UNSEEN ? NULL : bytes};
    struct gt_translate_decoded insn = {.ref = &ref, .pc = pc, .size = 4};
    const struct gt_translate_block t = {.rec = r, .n = 1, .insn = &insn};
    const uint32_t call = BL(0), none = 0;
    memcpy(bytes - 4, known & FOLLOWS ? &call : &none, 4);
    struct gt_run_granule *granule = gt_run_granule_at(r, pc);
    uint64_t bit = gt_run_granule_bit(pc);
    granule->by_predecessor = known & FLOW ? bit : ~bit;
    granule->call = known & CALL ? bit : ~bit;
    granule->otherwise = known & OTHER ? bit : ~bit;
    enum gt_translate_block_entry found = gt_translate_block_entry_of(&t, &code);
    vector_after = code.vector;
    return names[found];
}

struct expected {
    unsigned known;
    const char *arrival;
};

static void expect(struct gt_recorder *r, uint64_t pc, const struct expected *e, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *found = arrival(r, pc, e[i].known);
        if (strcmp(found, e[i].arrival) != 0)
            fail_msg("known %#x at %#llx: %s, not %s", e[i].known, (unsigned long long)pc, found,
                     e[i].arrival);
    }
}
#define EXPECT(r, pc, ...)                                                                         \
    expect(r, pc, (const struct expected[]){__VA_ARGS__},                                          \
           sizeof((const struct expected[]){__VA_ARGS__}) / sizeof(struct expected))

/* With score or without, but for what nothing leads to. */
static void expect_program(struct gt_recorder *r)
{
    EXPECT(r, 0x401084, {FLOW, "none"}, {CALL, "look"}, {OTHER, "mixed"}, {FLOW | CALL, "mixed"},
           {CALL | OTHER, "mixed"}, {FLOW | OTHER, "mixed"}, {FOLLOWS, "look"},
           {FLOW | FOLLOWS, "mixed"}, {OTHER | FOLLOWS, "look"}, {UNSEEN, "look"}, {ENTRY, "look"},
           {ENTRY | FLOW, "look"}, {ENTRY | FLOW | CALL | OTHER, "look"}, {SAVER | FLOW, "mixed"},
           {SAVER, "mixed"}, {ANON | FLOW, "none"}, {ANON, "mixed"}, {VECTORS | FLOW, "none"});
}

static void test_program(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("aarch64", 0, SCOREBOARD, NULL);
    expect_program(r);
    EXPECT(r, 0x401080, {0, "mixed"});
    recorder_stop(r);
    r = recorder_start("aarch64", 0, BARE, NULL);
    expect_program(r);
    EXPECT(r, 0x401080, {0, "none"}); /* seen a little later */
}

static void test_machine(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("aarch64", 1, SCOREBOARD, NULL);
    EXPECT(r, KERNEL, {0, "unknown"}, {FLOW, "none"}, {CALL, "look"}, {OTHER, "mixed"},
           {ENTRY, "unknown"}, {ENTRY | FLOW, "look"}, {ENTRY | CALL, "look"}, {YES, "unknown"},
           {YES | FLOW, "unknown"}, {NO, "jump"}, {FOLLOWS, "look"});
    EXPECT(r, KERNEL + 4, {0, "jump"}, {ENTRY, "jump"}, {VECTORS, "unknown"}, {FLOW, "none"});
    recorder_stop(r);
    r = recorder_start("aarch64", 1, REPORTS, NULL);
    EXPECT(r, KERNEL, {0, "unknown"}, {NO, "jump"});
    EXPECT(r, KERNEL + 4, {0, "jump"}, {FLOW, "none"});
}

/* A program's code is no vector, where registers say which is a program's. */
static void test_levels(void **state)
{
    (void)state;
    struct host_double_register cpsr = {.name = "cpsr", .bytes = {0x05}, .size = 4}; /* EL1 */
    struct gt_recorder *r = recorder_start("aarch64", 1, SCOREBOARD, NULL);
    host_double.registers = &cpsr;
    host_double.n_registers = 1;
    EXPECT(r, KERNEL, {0, "unknown"});
    assert_int_equal(vector_after, GT_VECTOR_UNKNOWN);
    cpsr.bytes[0] = 0;
    EXPECT(r, KERNEL, {0, "jump"});
    assert_int_equal(vector_after, GT_VECTOR_NO);
}

/* Registers say where handlers begin, or else what is there does. */
static void test_likely(void **state)
{
    (void)state;
    struct host_double_register vbar = {
        .name = "VBAR_EL2", .bytes = {0, 8, 1, 8, 0, 0x80, 0xff, 0xff}, .size = 8};
    struct gt_recorder *r = recorder_start("aarch64", 1, SCOREBOARD, NULL);
    code_memory[KERNEL % 4096] = 0x1f; /* any instruction, in a table that is empty */
    host_double.registers = &vbar;
    host_double.n_registers = 1;
    EXPECT(r, KERNEL, {0, "unknown"});
    assert_int_equal(vector_after, GT_VECTOR_UNKNOWN); /* KERNEL is before that table */
    vbar.bytes[1] = 0;
    EXPECT(r, KERNEL, {0, "unknown"}, {NO, "jump"});
    assert_int_equal(vector_after, GT_VECTOR_NO);
    EXPECT(r, KERNEL, {0, "unknown"});
    assert_int_equal(vector_after, GT_VECTOR_LIKELY);
    recorder_stop(r);
    r = recorder_start("aarch64", 1, BARE, NULL);
    code_memory[KERNEL % 4096] = 0x1f;
    EXPECT(r, KERNEL, {0, "unknown"});
    assert_int_equal(vector_after, GT_VECTOR_LIKELY);
}

/* Handlers of system management interrupts: 16-bit code at a page's beginning. */
static void test_smi(void **state)
{
    static const uint8_t code[] = {0xbb, 0x91, 0x80, 0x2e, 0x8b, 0x07}; /* mov $0x8091, %bx */

    (void)state;
    struct gt_recorder *r = recorder_start("x86_64", 1, BARE, NULL);
    for (size_t n = 0; n < 3; n++) {
        uint8_t size = n == 1 ? 5 : 3; /* of 32-bit code */
        uint64_t pc = n == 2 ? 0x38010 : 0x38000;
        struct gt_host_insn ref = {.pc = pc, .size = size, .host_addr = code_memory + pc % 4096};
        struct gt_translate_decoded insn = {.ref = &ref, .pc = pc, .size = size};
        struct gt_track_func fn = {.flags = GT_FUNC_ANON};
        struct gt_code at = {.pc = pc, .fn = &fn};
        memcpy(insn.bytes, code, sizeof code);
        (void)gt_translate_block_entry_of(
            &(struct gt_translate_block){.rec = r, .n = 1, .insn = &insn}, &at);
        assert_int_equal(at.vector, n == 0 ? GT_VECTOR_LIKELY : GT_VECTOR_UNKNOWN);
    }
}

/* Programs have different code at the same addresses: only branches from the same page of memory
 * make a block reached by a branch alone. */
static void test_memory(void **state)
{
    (void)state;
    static const uint64_t pc = 0x401084;
    struct gt_host_block b;
    struct gt_recorder *r = recorder_start("aarch64", 1, SCOREBOARD, NULL);
    EXPECT(r, pc, {FLOW, "none"});
    BLOCK(&b, pc, code_memory + pc % 4096, NOP);
    assert_int_equal(gt_translate_memory_shift(r, &b), 0);
    EXPECT(r, pc, {FLOW, "mixed"});
    gt_translate_memory_note_predecessor(r, pc);
    EXPECT(r, pc, {FLOW, "none"}, {FLOW | CALL, "mixed"});
    code_memory[pc % 4096]++; /* another file's page */
    gt_translate_memory_shift(r, &b);
    EXPECT(r, pc, {FLOW, "mixed"});
}

/* ---- what blocks lead to ------------------------------------------------------------------- */

/* "F" flow, "C" call, "A" arrival, each where it is known. */
static const char *known_at(struct gt_recorder *r, uint64_t pc)
{
    static char text[4];
    const struct gt_run_granule *granule = gt_run_granule_at(r, pc);
    uint64_t bit = gt_run_granule_bit(pc);
    snprintf(text, sizeof text, "%s%s%s", granule->by_predecessor & bit ? "F" : "",
             granule->call & bit ? "C" : "", granule->otherwise & bit ? "A" : "");
    assert_int_equal(gt_run_block_entry_is_known(r, pc), text[0] != '\0');
    return text;
}

/* What is known after a block of a program's function that ends in the instruction. */
static void expect_notes(size_t at, uint32_t last, const char *next, const char *target)
{
    struct gt_host_block b;
    struct gt_recorder *r = recorder_start("aarch64", 0, SCOREBOARD, NULL);
    uint64_t pc = (uintptr_t)code_page + at;
    PROGRAM_BLOCK(&b, at, NOP, last);
    translate(r, &b);
    assert_string_equal(known_at(r, pc), "");
    assert_string_equal(known_at(r, pc + 4), "F");
    assert_string_equal(known_at(r, pc + 8), next);
    assert_string_equal(known_at(r, pc + 4 + 64), target);
    recorder_stop(r);
}

static void test_notes(void **state)
{
    (void)state;
    expect_notes(ALPHA, NOP, "F", "");
    expect_notes(ALPHA, BL(64), "", "C");
    expect_notes(ALPHA, BLR, "A", "");
    expect_notes(ALPHA, B(64), "", "F");
    expect_notes(UNNAMED, B(64), "", "A"); /* it may be a tail call */
    expect_notes(ALPHA, B_COND(64), "F", "F");
    expect_notes(UNNAMED, B_COND(64), "F", "F");
    expect_notes(ALPHA, SVC, "A", "");
    expect_notes(ALPHA, RET, "", "");
    expect_notes(ALPHA, BR, "", "");
    expect_notes(ALPHA, ERET, "", "");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(test_##name, recorder_teardown)
    const struct CMUnitTest tests[] = {
        TEST(program), TEST(machine), TEST(levels), TEST(likely),
        TEST(smi),     TEST(memory),  TEST(notes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
