/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watched registers: which ones, and what is logged when they change. */
#include "execlog/format/execlog.h"
#include "logging.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct gt_host_block block;
static struct host_double_register registers[4];

static void begin(enum log_form form, const char *const *words)
{
    static const struct host_double_register first[] = {
        {"X0", {1}, 8}, {"x1", {2}, 8}, {"v0", {3}, GT_EXECLOG_MAX_VALUE + 1}, {"pc", {0, 16}, 8}};
    memcpy(registers, first, sizeof registers);
    logging_load(form, "aarch64", 0, 7, words);
    host_double.registers = registers;
    host_double.n_registers = 4;
    host_double.events->vcpu_init(host_double.self, 0);
    host_double_nops(&block, 0x1000, 2);
    host_double_translate(&block);
}

#define LINE_0 "0, 0x1000, 0x1000, \"nop\""
#define LINE_1 "0, 0x1004, 0x1004, \"nop\""

static void a_change_belongs_to_the_line_before(void **state)
{
    (void)state;
    const char *const words[] = {"reg=x?", NULL};
    for (enum log_form form = LOG_QEMU; form < LOG_FORMS; form++) {
        begin(form, words);
        host_double_step(&block, 0, 0);
        registers[1].bytes[7] = 0xab;
        registers[3].bytes[0] = 4;
        host_double_step(&block, 0, 1);
        registers[0].bytes[0] = 0;
        registers[1].bytes[7] = 0;
        host_double_step(&block, 0, 0);
        assert_string_equal(logging_end(), LINE_0
                            ", x1 -> 0xab00000000000002\n" LINE_1
                            ", x0 -> 0x0000000000000000, x1 -> 0x0000000000000002\n" LINE_0 "\n");
    }
}

static void a_register_is_watched_as_often_as_globs_match(void **state)
{
    (void)state;
    const char *const words[] = {"reg=x1", "reg=*1", NULL};
    begin(LOG_QEMU, words);
    const struct gt_exlog *e = host_double.self;
    assert_int_equal(e->vcpus[0].n_watched, 2);
    assert_int_equal(e->registers.all->len, 1);
    host_double_step(&block, 0, 0);
    registers[1].bytes[0] = 5;
    host_double_step(&block, 0, 1);
    assert_string_equal(logging_end(), LINE_0 ", x1 -> 0x0000000000000005, x1 -> "
                                              "0x0000000000000005\n" LINE_1 "\n");
}

static void a_glob_without_registers_is_refused(void **state)
{
    (void)state;
    const char *const words[] = {"reg=x0", NULL};
    struct gt_error err = {0};
    begin(LOG_QEMU, words);
    struct gt_exlog *e = host_double.self;
    e->n_vcpus = 2;
    e->vcpus[1].recorder = e;
    assert_int_equal(gt_exlog_add_glob(e, "z9", NULL), 0);
    assert_int_equal(gt_exlog_find_registers(&e->vcpus[1], &err), GT_E_NOT_FOUND);
    assert_string_equal(err.text, "argument reg=z9: the CPU has no register of such a name");
    logging_end();
}

/* Every CPU has a pc, but not under this name everywhere. */
static void pc_may_be_missing_beside_others(void **state)
{
    (void)state;
    const char *const words[] = {"reg=x0", "reg=PC", NULL};
    begin(LOG_QEMU, words);
    struct gt_exlog *e = host_double.self;
    assert_int_equal(e->vcpus[0].n_watched, 2);
    host_double.n_registers = 3;
    e->n_vcpus = 2;
    e->vcpus[1].recorder = e;
    assert_int_equal(gt_exlog_find_registers(&e->vcpus[1], NULL), 0);
    assert_int_equal(e->vcpus[1].n_watched, 1);
    logging_end();
}

/* Its changes are left out there, and only there. */
static void a_binary_log_has_short_registers(void **state)
{
    (void)state;
    const char *const words[] = {"reg=v0", NULL};
    for (enum log_form form = LOG_TEXT; form < LOG_FORMS; form++) {
        begin(form, words);
        logging_end();
        assert_true((*logging_messages() != '\0') == (form == LOG_BINARY));
    }
    assert_non_null(strstr(logging_messages(), "register v0 has 4097 bytes"));
}

/* What is not logged is completed where the next instruction begins, and logged again at the end,
 * before QEMU 11.1. */
static void a_complete_line_is_logged_once_more(void **state)
{
    (void)state;
    const char *const words[] = {"reg=x0", "afilter=1000", NULL};
    for (unsigned i = 0; i < 2 * LOG_FORMS; i++) {
        bool again = i % 2;
        begin((enum log_form)(i / 2), words);
        host_double_step(&block, 0, 0);
        registers[0].bytes[0] = 9;
        host_double_step(&block, 0, 1);
        registers[0].bytes[0] = 10;
        host_double_step(&block, 0, 1);
        struct gt_exlog *e = host_double.self;
        e->repeats = again;
        assert_string_equal(logging_end(), again ? LINE_0 ", x0 -> 0x0000000000000009\n" LINE_0
                                                          ", x0 -> 0x0000000000000009\n"
                                                 : LINE_0 ", x0 -> 0x0000000000000009\n");
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, logging_setup, logging_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_change_belongs_to_the_line_before),
        TEST(a_register_is_watched_as_often_as_globs_match),
        TEST(a_glob_without_registers_is_refused),
        TEST(pc_may_be_missing_beside_others),
        TEST(a_binary_log_has_short_registers),
        TEST(a_complete_line_is_logged_once_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
