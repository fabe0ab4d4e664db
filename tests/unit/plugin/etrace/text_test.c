/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notes: disassembly of translated code, registers where blocks begin. */
#include "recording.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct gt_host_block block;

static void begin(unsigned vcpus, const char *flags)
{
    const char *const words[] = {flags, "clock=insn", NULL};
    recording_begin("x86_64", vcpus, 7, words);
    host_double.events->vcpu_init(host_double.self, 0);
}

static void translated_code_is_disassembled(void **state)
{
    (void)state;
    begin(0, "flags=disas");
    host_double_block(&block, 0x1234);
    host_double_insn(&block, 1, "nop");
    host_double_insn(&block, 2, NULL);
    host_double_translate(&block);
    assert_string_equal(recording_end(), "arch 62/64 0\n"
                                         "tb 0 v1234 p1234 3\n"
                                         "note 0 @0 \"0x1234: 34  nop\n0x1235: 3512  ?\n\"\n");
}

/* A translation puts its notes after the blocks that have run, at their time. */
static void notes_are_in_order_with_entries(void **state)
{
    (void)state;
    static struct gt_host_block other;
    begin(1, "flags=disas+exec");
    host_double.physical_offset = 0x10000;
    host_double_block(&block, 0x1000);
    host_double_insn(&block, 2, "a");
    host_double_translate(&block);
    host_double_run(&block, 0);
    host_double_block(&other, 0x2000);
    host_double_insn(&other, 1, "b");
    host_double_translate(&other);
    assert_string_equal(recording_end(), "arch 62/64 0\n"
                                         "tb 0 v1000 p11000 2\nnote 0 @0 \"0x1000: 0010  a\n\"\n"
                                         "exec 0 @0: 1 1000-1002\nbarrier 0\n"
                                         "tb 0 v2000 p12000 1\nnote 0 @0 \"0x2000: 00  b\n\"\n");
}

/* The host's `pc` is left out for the block's own; what cannot be read, too. */
static void registers_are_a_note_for_each_block(void **state)
{
    (void)state;
    struct host_double_register registers[] = {
        {"rax", {0x34, 0x12}, 8}, {"pc", {1}, 8}, {"none", {0}, 0}, {"flags", {2}, 4}};
    begin(0, "flags=cpu");
    host_double.registers = registers;
    host_double.n_registers = 4;
    host_double_nops(&block, 0x1000, 2);
    host_double_translate(&block);
    host_double_run(&block, 0);
    registers[0].bytes[0] = 0x35;
    host_double_run(&block, 0);
    assert_string_equal(recording_end(), "arch 62/64 0\n"
                                         "note 0 @0 \"pc=0x1000 rax=0x1234 flags=0x2\n\"\n"
                                         "note 0 @2 \"pc=0x1000 rax=0x1235 flags=0x2\n\"\n");
}

static void a_long_note_is_cut_and_ends_its_line(void **state)
{
    (void)state;
    char *text = g_strnfill(1000, 'x');
    begin(0, "flags=disas");
    host_double_block(&block, 0x1000);
    for (int i = 0; i < HOST_DOUBLE_INSNS; i++)
        host_double_insn(&block, 1, text);
    host_double_translate(&block);
    const char *got = recording_end(), *note = strstr(got, "note 0 @0 \"");
    assert_int_equal(strlen(note) - strlen("note 0 @0 \"\"\n"), GT_ETRACE_BUFFER / 2);
    assert_string_equal(got + strlen(got) - 5, "xx\n\"\n");
    g_free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, recording_setup, recording_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(translated_code_is_disassembled),
        TEST(notes_are_in_order_with_entries),
        TEST(registers_are_a_note_for_each_block),
        TEST(a_long_note_is_cut_and_ends_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
