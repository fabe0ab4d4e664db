/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls without a call instruction, in code of PCs. */
#include "calls/recorder/translate/push.h"
#include "recorder_double.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { AT = 0xe8000, THERE = 0xe8800, FAR_AWAY = 0x12345678 };

static struct gt_host_block block;
static struct gt_translate_decoded decoded[HOST_DOUBLE_INSNS];

/* The end of the block so far. */
static uint64_t end(void)
{
    const struct gt_host_insn *last = &block.insns[block.n_insns - 1];
    return block.n_insns ? last->pc + last->size : block.pc;
}

static void begin(uint64_t pc)
{
    host_double_block(&block, pc);
}

static void add(const char *bytes, size_t n)
{
    block_add(&block, NULL, (const uint8_t *)bytes, n);
}
#define ADD(bytes) add(bytes, sizeof bytes - 1)

static void add_push(uint32_t value)
{
    const uint8_t bytes[5] = {0x68, (uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                              (uint8_t)(value >> 24)};
    block_add(&block, NULL, bytes, sizeof bytes);
}

/* The kind of the block's last instruction, after it was looked at. */
static enum gt_arch_insn_kind classify(struct gt_recorder *r)
{
    struct gt_translate_block t = {.rec = r, .block = &block, .n = block.n_insns, .insn = decoded};
    for (size_t i = 0; i < t.n; i++) {
        struct gt_host_insn *ref = &block.insns[i];
        decoded[i] =
            (struct gt_translate_decoded){.ref = ref, .pc = ref->pc, .size = (uint8_t)ref->size};
        memcpy(decoded[i].bytes, ref->bytes, ref->size);
        r->guest.arch->classify(ref->bytes, ref->size, ref->pc, &decoded[i].insn);
    }
    gt_translate_pushed_classify(&t);
    return decoded[t.n - 1].insn.kind;
}

static void expect(struct gt_recorder *r, enum gt_arch_insn_kind kind)
{
    enum gt_arch_insn_kind found = classify(r);
    assert_string_equal(gt_arch_insn_kind_name(found), gt_arch_insn_kind_name(kind));
}

#define RETURNS       "\xc3"
#define RETURNS_FLAGS "\xcf"                 /* iret */
#define JUMPS         "\xe9\x00\x01\x00\x00" /* jmp */
#define JUMPS_BY      "\xff\xe0"             /* jmp *%eax */
#define NEXT          10                     /* after a push and a jump of 5 bytes, or 2 pushes */

static void test_jump(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("i386", 1, 2, NULL);
    begin(AT);
    add_push(AT + NEXT);
    ADD(JUMPS);
    expect(r, GT_INSN_CALL);
    begin(AT);
    add_push(AT + NEXT + 1); /* another address */
    ADD(JUMPS);
    expect(r, GT_INSN_JUMP);
    begin(AT);
    add_push(AT + 7);
    ADD(JUMPS_BY);
    expect(r, GT_INSN_CALL_INDIRECT);
    begin(AT);
    ADD(JUMPS_BY);
    expect(r, GT_INSN_JUMP_INDIRECT);
}

static void test_return(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("i386", 1, 2, NULL);
    begin(AT);
    add_push(AT + 13);
    ADD("\xff\x33");    /* pushes what is no constant ... */
    add_push(FAR_AWAY); /* ... and one that is no address near */
    ADD(RETURNS);       /* goes there */
    expect(r, GT_INSN_CALL_INDIRECT);
    begin(AT);
    add_push(AT + 6);
    ADD(RETURNS); /* to the next instruction: as it seems */
    expect(r, GT_INSN_RETURN);
    begin(AT);
    add_push(AT + 7);
    ADD("\x58"); /* popped */
    ADD(RETURNS);
    expect(r, GT_INSN_RETURN);
}

/* The address that is pushed last counts, if it is one. */
static void test_two_addresses(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("i386", 1, 2, NULL);
    begin(AT);
    add_push(AT + NEXT + 1);
    add_push(THERE);
    ADD(RETURNS);
    expect(r, GT_INSN_RETURN);
    begin(AT);
    add_push(THERE);
    add_push(AT + NEXT + 1);
    ADD("\x50"); /* the target, in a register */
    ADD(RETURNS);
    assert_int_equal(end(), AT + NEXT + 2);
    expect(r, GT_INSN_RETURN);
    begin(AT);
    add_push(AT + NEXT - 3);
    ADD("\x50");
    ADD(RETURNS);
    assert_int_equal(end(), AT + 7);
    expect(r, GT_INSN_CALL_INDIRECT);
}

static void test_exception_return(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("i386", 1, 2, NULL);
    begin(AT);
    add_push(AT + 6);
    ADD(RETURNS_FLAGS); /* to the next instruction: only new flags */
    expect(r, GT_INSN_OTHER);
    begin(AT);
    add_push(AT + 9);
    ADD("\x9c"); /* pushf */
    ADD("\x0e"); /* push %cs */
    ADD("\x50");
    ADD(RETURNS_FLAGS);
    expect(r, GT_INSN_CALL_INDIRECT);
    begin(AT);
    ADD("\x9c");
    ADD(RETURNS_FLAGS);
    expect(r, GT_INSN_EXCEPTION_RETURN);
}

/* 16-bit code pushes offsets in a segment. */
static void test_real_mode(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("i386", 1, 2, NULL);
    begin(AT);
    ADD("\x66\x68\x09\x80"); /* pushw $0x8009 */
    ADD(JUMPS);
    assert_int_equal(end(), 0xe8009);
    expect(r, GT_INSN_CALL);
}

static void test_another_stack(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("i386", 1, 2, NULL);
    begin(AT);
    add_push(AT + NEXT + 2);
    ADD("\x89\xc4"); /* mov %eax, %esp */
    ADD(JUMPS);
    expect(r, GT_INSN_JUMP);
}

/* QEMU ends blocks at pages, and at instructions that cross one. */
static void test_across_blocks(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("i386", 1, 2, NULL);
    begin(AT);
    add_push(AT + NEXT + 1);
    ADD("\x90");
    expect(r, GT_INSN_OTHER);
    begin(AT + 6);
    ADD(JUMPS);
    expect(r, GT_INSN_CALL);
    /* The same, but for the jump: its block is shown as if it ended before. */
    begin(AT + 0x100);
    add_push(AT + 0x100 + NEXT);
    ADD(JUMPS);
    expect(r, GT_INSN_CALL);
    begin(AT + 0x105);
    ADD(JUMPS);
    expect(r, GT_INSN_CALL);
    /* What nothing was pushed before. */
    begin(AT + 0x206);
    ADD(JUMPS);
    expect(r, GT_INSN_JUMP);
}

/* Another block's slot is not taken for one's own. */
static void test_slots(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("i386", 1, 2, NULL);
    begin(AT);
    add_push(AT + GT_PUSHES_CACHED + NEXT + 1);
    ADD("\x90");
    expect(r, GT_INSN_OTHER);
    begin(AT + 6 + GT_PUSHES_CACHED); /* its end is what was pushed elsewhere */
    ADD(JUMPS);
    expect(r, GT_INSN_JUMP);
    begin(AT);
    add_push(AT + NEXT + 1);
    ADD("\x90");
    expect(r, GT_INSN_OTHER);
    begin(AT + GT_PUSHES_CACHED);
    add_push(AT + GT_PUSHES_CACHED + NEXT + 1);
    ADD("\x90");
    expect(r, GT_INSN_OTHER); /* takes the slot */
    begin(AT + 6);
    ADD(JUMPS);
    expect(r, GT_INSN_JUMP);
}

static void test_other_guests(void **state)
{
    (void)state;
    struct gt_recorder *r = recorder_start("aarch64", 1, 2, NULL);
    BLOCK(&block, AT, NULL, NOP, B(64));
    expect(r, GT_INSN_JUMP);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(test_##name, recorder_teardown)
    const struct CMUnitTest tests[] = {
        TEST(jump),         TEST(return ),       TEST(two_addresses), TEST(exception_return),
        TEST(real_mode),    TEST(another_stack), TEST(across_blocks), TEST(slots),
        TEST(other_guests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
