/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filters: what happens where each instruction of a block begins. */
#include "execlog/plugin/recorder.h"
#include "host_double.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct gt_exlog recorder;

static int setup(void **state)
{
    (void)state;
    host_double_start("aarch64", 0, 7);
    return gt_exlog_init(&recorder, &host_double.info, NULL);
}

static int teardown(void **state)
{
    (void)state;
    recorder.sink = &gt_exlog_text;
    gt_exlog_fini(&recorder);
    host_double_stop();
    return 0;
}

/* The steps of four instructions from 0x1000 on, a letter each: skip, log, check, both. */
static const char *steps(void)
{
    static char text[5];
    struct gt_exlog_insn insns[4] = {
        {.pc = 0x1000, .disassembly = "mov x1, x2"},
        {.pc = 0x1004, .disassembly = "ldr x0, [x1]"},
        {.pc = 0x1008, .disassembly = "b #0x1000"},
        {.pc = 0x100c, .disassembly = "movk x0, #1"},
    };
    gt_exlog_decide_steps(&recorder, insns, 4);
    for (int i = 0; i < 4; i++)
        text[i] = "slcb"[insns[i].step];
    return text;
}

static void without_filters_all_are_logged(void **state)
{
    (void)state;
    assert_string_equal(steps(), "llll");
}

static void prefixes_and_addresses_add_up(void **state)
{
    (void)state;
    assert_int_equal(gt_exlog_add_prefix(&recorder, "mov", NULL), 0);
    assert_string_equal(steps(), "lssl");
    assert_int_equal(gt_exlog_add_address(&recorder, "1008", NULL), 0);
    assert_string_equal(steps(), "lsll");
    assert_int_equal(gt_exlog_add_prefix(&recorder, "ldr", NULL), 0);
    assert_string_equal(steps(), "llll");
}

static void ranges_restrict_filters(void **state)
{
    (void)state;
    assert_int_equal(gt_exlog_add_range(&recorder, "1004-100b", NULL), 0);
    assert_string_equal(steps(), "slls");
    assert_int_equal(gt_exlog_add_prefix(&recorder, "b", NULL), 0);
    assert_string_equal(steps(), "ssls");
    assert_int_equal(gt_exlog_add_range(&recorder, "1000-1003", NULL), 0);
    assert_int_equal(gt_exlog_add_prefix(&recorder, "mov", NULL), 0);
    assert_string_equal(steps(), "lsls");
}

static void registers_are_checked_everywhere(void **state)
{
    (void)state;
    assert_int_equal(gt_exlog_add_glob(&recorder, "X0", NULL), 0);
    assert_string_equal(steps(), "bbbb");
    assert_int_equal(gt_exlog_add_address(&recorder, "1008", NULL), 0);
    assert_string_equal(steps(), "ccbc");
}

static void find_x0(void)
{
    static struct host_double_register registers[] = {{"x0", {0}, 8}};
    host_double.registers = registers;
    host_double.n_registers = 1;
    recorder.sink = &gt_exlog_text;
    recorder.n_vcpus = 1;
    recorder.vcpus[0].recorder = &recorder;
    assert_int_equal(gt_exlog_add_glob(&recorder, "x0", NULL), 0);
    assert_int_equal(gt_exlog_find_registers(&recorder.vcpus[0], NULL), 0);
}

/* rdisas=on: they are checked where a block begins, and after an instruction that names one. */
static void named_registers_are_checked_afterwards(void **state)
{
    (void)state;
    find_x0();
    recorder.registers.rdisas = true;
    assert_string_equal(steps(), "blbl");
    assert_int_equal(gt_exlog_add_address(&recorder, "1008", NULL), 0);
    assert_string_equal(steps(), "clbl");
}

static void only_operands_name_registers(void **state)
{
    (void)state;
    find_x0();
    assert_true(gt_exlog_names_register(&recorder, "mov x0, x1"));
    assert_true(gt_exlog_names_register(&recorder, "b #0x0"));
    assert_false(gt_exlog_names_register(&recorder, "x0 x1"));
    assert_false(gt_exlog_names_register(&recorder, "x0"));
}

static void triggers_of_an_address_come_in_order(void **state)
{
    (void)state;
    size_t from = 0;
    assert_int_equal(gt_exlog_add_start(&recorder, "0x1004", NULL), 0);
    assert_int_equal(gt_exlog_add_stop(&recorder, "0x1004:7", NULL), 0);
    assert_int_equal(gt_exlog_add_stop(&recorder, "0x1008", NULL), 0);
    assert_true(recorder.off && recorder.selective);
    const struct gt_exlog_trigger *t = gt_exlog_trigger_at(&recorder, 0x1004, &from);
    assert_true(t && !t->stop && t->count == 1);
    t = gt_exlog_trigger_at(&recorder, 0x1004, &from);
    assert_true(t && t->stop && t->count == 7);
    assert_null(gt_exlog_trigger_at(&recorder, 0x1004, &from));
    from = 0;
    assert_null(gt_exlog_trigger_at(&recorder, 0x1000, &from));
}

/* A program's function is searched in its mapped files: this test is one. */
void wanted_function(void);
void wanted_function(void)
{
    assert_true(true);
}

static void functions_are_found_where_code_is_mapped(void **state)
{
    (void)state;
    const uint64_t pc = (uint64_t)(uintptr_t)wanted_function;
    assert_int_equal(gt_exlog_add_symbol(&recorder, "wanted_function", NULL), 0);
    assert_int_equal(gt_exlog_add_symbol(&recorder, "no_such_function", NULL), 0);
    assert_int_equal(gt_exlog_find_functions(&recorder, NULL), 0);
    assert_false(gt_exlog_is_inside(&recorder, pc));
    gt_exlog_learn_code(&recorder, pc, (const void *)(uintptr_t)pc);
    assert_true(gt_exlog_is_inside(&recorder, pc));
    assert_false(gt_exlog_is_inside(&recorder, pc - 1));
    gt_exlog_report_missing(&recorder);
    assert_string_equal(host_double.messages->str,
                        "argument sym=no_such_function: no function of that name was seen\n");
}

static void a_machines_functions_are_required(void **state)
{
    (void)state;
    struct gt_error err = {0};
    recorder.host.system = true;
    assert_int_equal(gt_exlog_add_symbol(&recorder, "main", NULL), 0);
    assert_int_equal(gt_exlog_find_functions(&recorder, &err), GT_E_NOT_FOUND);
    assert_string_equal(err.text, "argument sym=main: no such function in any file: expected "
                                  "elf=FILE, too");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_filters_all_are_logged),
        TEST(prefixes_and_addresses_add_up),
        TEST(ranges_restrict_filters),
        TEST(registers_are_checked_everywhere),
        TEST(named_registers_are_checked_afterwards),
        TEST(only_operands_name_registers),
        TEST(triggers_of_an_address_come_in_order),
        TEST(functions_are_found_where_code_is_mapped),
        TEST(a_machines_functions_are_required),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
