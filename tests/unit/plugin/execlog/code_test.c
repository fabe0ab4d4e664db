/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Translation: which callbacks and stores a block gets, by filters and host. */
#include "execlog/plugin/exec.h"

#include "logging.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct gt_host_block block;
static struct host_double_register registers[] = {{"x0", {0}, 8}};
static enum gt_host_vcpus vcpus_are; /* of the next host */

/* Translates a block of n instructions from 0x1000 on with one option. */
static void translate(unsigned vcpus, int abi, const char *option, size_t n)
{
    const char *const words[] = {option, NULL};
    logging_load(LOG_QEMU, "aarch64", vcpus, abi, words);
    host_double.registers = registers;
    host_double.n_registers = 1;
    host_double.vcpus = vcpus_are;
    for (unsigned i = 0; i < MAX(vcpus, 1); i++)
        host_double.events->vcpu_init(host_double.self, i);
    host_double_nops(&block, 0x1000, n);
    host_double_translate(&block);
}

static gt_host_exec_fn callback(enum host_double_kind kind, int insn)
{
    const struct host_double_hook *h = host_double_find(&block, kind, insn);
    return h ? h->exec : NULL;
}

static uint64_t stored(int insn)
{
    const struct host_double_hook *h = host_double_find(&block, HOST_DOUBLE_STORE, insn);
    return h ? h->value : 0;
}

static void with_scoreboard_lines_are_stored(void **state)
{
    (void)state;
    translate(0, 7, "every=1", 3);
    assert_ptr_equal(callback(HOST_DOUBLE_EXEC, -1), gt_exlog_on_block);
    assert_int_equal(stored(0), 0); /* it begins with the block */
    assert_int_equal(stored(1), 2);
    assert_int_equal(stored(2), 3);
    for (int i = 0; i < 3; i++)
        assert_ptr_equal(host_double_find(&block, HOST_DOUBLE_MEMORY, i)->memory,
                         gt_exlog_on_access);
    assert_int_equal(block.n_hooks, 6);
    logging_end();
}

static void without_scoreboard_each_line_has_a_callback(void **state)
{
    (void)state;
    translate(0, 1, "every=1", 2);
    assert_null(callback(HOST_DOUBLE_EXEC, -1));
    assert_ptr_equal(callback(HOST_DOUBLE_EXEC, 0), gt_exlog_on_line);
    assert_ptr_equal(callback(HOST_DOUBLE_EXEC, 1), gt_exlog_on_line);
    assert_int_equal(block.n_hooks, 4);
    logging_end();
}

static void a_block_of_one_line_has_one_callback(void **state)
{
    (void)state;
    translate(0, 7, "every=1", 1);
    assert_ptr_equal(callback(HOST_DOUBLE_EXEC, 0), gt_exlog_on_line);
    assert_int_equal(block.n_hooks, 2);
    logging_end();
}

/* There QEMU stores into score of another vCPU. */
static void one_thread_for_all_vcpus_needs_callbacks(void **state)
{
    (void)state;
    vcpus_are = GT_VCPUS_CORRECTED;
    translate(2, 7, "every=1", 2);
    vcpus_are = GT_VCPUS_RIGHT;
    assert_ptr_equal(callback(HOST_DOUBLE_EXEC, 0), gt_exlog_on_line);
    assert_int_equal(stored(1), 0);
    logging_end();
}

static void registers_are_read_in_callbacks(void **state)
{
    (void)state;
    translate(0, 7, "reg=x0", 2);
    assert_ptr_equal(callback(HOST_DOUBLE_EXEC_REGS, 0), gt_exlog_on_line_regs);
    assert_ptr_equal(callback(HOST_DOUBLE_EXEC_REGS, 1), gt_exlog_on_line_regs);
    assert_null(callback(HOST_DOUBLE_EXEC, -1));
    assert_int_equal(stored(1), 0);
    logging_end();
}

static void what_is_filtered_out_costs_nothing(void **state)
{
    (void)state;
    translate(0, 7, "afilter=1004", 3);
    assert_int_equal(block.n_hooks, 2);
    assert_ptr_equal(callback(HOST_DOUBLE_EXEC, 1), gt_exlog_on_line);
    logging_end();
    translate(0, 7, "ifilter=mov", 3);
    assert_int_equal(block.n_hooks, 0);
    logging_end();
}

static void a_filtered_out_instruction_is_checked_for_registers(void **state)
{
    (void)state;
    const char *const words[] = {"reg=x0", "afilter=1000", NULL};
    logging_load(LOG_QEMU, "aarch64", 0, 7, words);
    host_double.registers = registers;
    host_double.n_registers = 1;
    host_double.events->vcpu_init(host_double.self, 0);
    host_double_nops(&block, 0x1000, 2);
    host_double_translate(&block);
    assert_ptr_equal(callback(HOST_DOUBLE_EXEC_REGS, 0), gt_exlog_on_line_regs);
    assert_ptr_equal(callback(HOST_DOUBLE_EXEC_REGS, 1), gt_exlog_on_check);
    assert_int_equal(host_double_count(&block, HOST_DOUBLE_MEMORY, 1), 0);
    logging_end();
}

/* A trigger at the block's first instruction takes effect before its line begins. */
static void triggers_come_before_the_line(void **state)
{
    (void)state;
    translate(0, 7, "start=0x1000", 2);
    assert_ptr_equal(callback(HOST_DOUBLE_EXEC, 0), gt_exlog_on_trigger);
    assert_int_equal(stored(0), 1);
    assert_int_equal(stored(1), 2);
    logging_end();
    translate(0, 7, "stop=0x1004:3", 2);
    assert_ptr_equal(callback(HOST_DOUBLE_EXEC, 1), gt_exlog_on_trigger);
    const struct gt_exlog_trigger *t = host_double_find(&block, HOST_DOUBLE_EXEC, 1)->data;
    assert_true(t->stop && t->count == 3);
    assert_int_equal(stored(0), 0);
    logging_end();
}

static void arguments_are_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        int abi, status;
        const char *message;
    } refused[] = {
        {"ifilter=", 7, GT_E_USAGE, "argument ifilter=: expected how a disassembly begins"},
        {"afilter=12x", 7, GT_E_USAGE, "argument afilter=12x: expected a hex address"},
        {"range=x", 7, GT_E_USAGE, "argument range=x: expected "},
        {"start=0x10:0", 7, GT_E_USAGE, "argument start=0x10:0: expected "},
        {"elf=/a:x", 7, GT_E_USAGE, "argument elf=/a:x: expected FILE"},
        {"reg=x0", 1, GT_E_UNSUPPORTED, "argument reg=x0: this QEMU (plugin ABI 1) cannot"},
        {"format=binary", 7, GT_E_USAGE, "argument format=binary: expected output=FILE"},
        {"sky=1", 7, GT_E_USAGE, "unknown argument sky=1"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
        struct gt_error err = {0};
        const char *const words[] = {refused[i].word, NULL};
        host_double_start("aarch64", 0, refused[i].abi);
        assert_int_equal(host_double_install(&err, words), refused[i].status);
        assert_int_equal(strncmp(err.text, refused[i].message, strlen(refused[i].message)), 0);
        gt_exlog_fini(gt_exlog_loaded());
        host_double_stop();
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, logging_setup, logging_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(with_scoreboard_lines_are_stored),
        TEST(without_scoreboard_each_line_has_a_callback),
        TEST(a_block_of_one_line_has_one_callback),
        TEST(one_thread_for_all_vcpus_needs_callbacks),
        TEST(registers_are_read_in_callbacks),
        TEST(what_is_filtered_out_costs_nothing),
        TEST(a_filtered_out_instruction_is_checked_for_registers),
        TEST(triggers_come_before_the_line),
        TEST(arguments_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
