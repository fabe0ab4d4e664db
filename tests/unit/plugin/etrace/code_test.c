/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Translation: which callbacks and inline operations a block gets, by flags, clock and host. */
#include "etrace/plugin/exec.h"
#include "etrace/plugin/text.h"

#include "recording.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct gt_host_block block;

/* Translates a block of n instructions with one option, and ends the recording. */
static void translate(unsigned vcpus, int abi, const char *option, size_t n)
{
    const char *const words[] = {option, NULL};
    recording_begin("aarch64", vcpus, abi, words);
    host_double.events->vcpu_init(host_double.self, 0);
    host_double_nops(&block, 0x1000, n);
    host_double_translate(&block);
    recording_end();
}

static gt_host_exec_fn block_callback(enum host_double_kind kind)
{
    const struct host_double_hook *h = host_double_find(&block, kind, -1);
    return h ? h->exec : NULL;
}

static void exec_alone_is_queued(void **state)
{
    (void)state;
    translate(0, 7, "flags=exec", 3);
    assert_int_equal(block.n_hooks, 1);
    assert_ptr_equal(block_callback(HOST_DOUBLE_EXEC), gt_etrace_on_block_queued);
}

static void exec_with_others_is_put_at_once(void **state)
{
    (void)state;
    translate(0, 7, "flags=exec+mem", 3);
    assert_ptr_equal(block_callback(HOST_DOUBLE_EXEC), gt_etrace_on_block);
    for (int i = 0; i < 3; i++) {
        const struct host_double_hook *h = host_double_find(&block, HOST_DOUBLE_MEMORY, i);
        assert_ptr_equal(h->memory, gt_etrace_on_access);
        assert_int_equal(h->which, GT_MEM_LOADS | GT_MEM_STORES);
        assert_int_equal((uintptr_t)h->data, i);
    }
    assert_int_equal(block.n_hooks, 4);
}

static void several_vcpus_choose_the_hosts_clock(void **state)
{
    (void)state;
    translate(2, 7, "flags=exec", 3);
    assert_ptr_equal(block_callback(HOST_DOUBLE_EXEC), gt_etrace_on_block_host);
    translate(1, 7, "flags=exec", 3);
    assert_ptr_equal(block_callback(HOST_DOUBLE_EXEC), gt_etrace_on_block_queued);
    translate(1, 7, "clock=host", 3);
    assert_ptr_equal(block_callback(HOST_DOUBLE_EXEC), gt_etrace_on_block_host);
}

static void without_exec_only_time_is_counted(void **state)
{
    (void)state;
    translate(0, 7, "flags=mem", 2);
    assert_ptr_equal(block_callback(HOST_DOUBLE_EXEC), gt_etrace_on_block_time);
    assert_int_equal(block.n_hooks, 3);
    translate(0, 7, "flags=none", 2);
    assert_int_equal(block.n_hooks, 0);
}

static void registers_need_a_callback_that_may_read_them(void **state)
{
    (void)state;
    translate(0, 7, "flags=cpu", 2);
    assert_ptr_equal(block_callback(HOST_DOUBLE_EXEC_REGS), gt_etrace_on_block_registers);
    assert_ptr_equal(block_callback(HOST_DOUBLE_EXEC), gt_etrace_on_block_time);
}

static void a_machines_single_instruction_is_watched(void **state)
{
    (void)state;
    translate(1, 7, "flags=exec", 1);
    assert_int_equal(block.n_hooks, 2);
    assert_ptr_equal(host_double_find(&block, HOST_DOUBLE_MEMORY, 0)->memory,
                     gt_etrace_on_single_access);
    translate(0, 7, "flags=exec", 1);
    assert_int_equal(block.n_hooks, 1);
    translate(1, 7, "flags=exec", 2);
    assert_int_equal(block.n_hooks, 1);
}

static void coverage_counts_inline(void **state)
{
    (void)state;
    translate(0, 7, "flags=coverage", 2);
    assert_int_equal(block.n_hooks, 1);
    assert_int_equal(host_double_find(&block, HOST_DOUBLE_ADD, -1)->value, 1);
    translate(0, 1, "flags=coverage", 2);
    assert_int_equal(block.n_hooks, 1);
    assert_int_equal(host_double_find(&block, HOST_DOUBLE_ADD_SHARED, -1)->value, 1);
}

static void coverage_of_a_machine_watches_single_instructions(void **state)
{
    (void)state;
    translate(1, 7, "flags=coverage", 1);
    assert_int_equal(host_double_count(&block, HOST_DOUBLE_ADD, -1), 1);
    assert_int_equal(host_double_count(&block, HOST_DOUBLE_MEMORY, 0), 1);
    assert_int_equal(block.n_hooks, 2);
}

static const struct gt_etrace_block *described(const char *target, int abi)
{
    static struct gt_etrace_block copy;
    const char *const words[] = {"flags=exec", NULL};
    recording_begin(target, 0, abi, words);
    host_double_translate(&block);
    copy = *(const struct gt_etrace_block *)host_double_find(&block, HOST_DOUBLE_EXEC, -1)->data;
    recording_end();
    return &copy;
}

static void sizes_are_kept_where_they_differ(void **state)
{
    (void)state;
    host_double_nops(&block, 0x1000, 4);
    const struct gt_etrace_block *b = described("aarch64", 7);
    assert_int_equal(b->start, 0x1000);
    assert_int_equal(b->end, 0x1010);
    assert_int_equal(b->insns, 4);
    assert_int_equal(b->insn_size, 4);
    assert_int_equal(described("x86_64", 7)->insn_size, 0);
}

/* QEMU 7.2 counts the part of an instruction that is on this page. */
static void a_cut_off_instruction_is_not_counted(void **state)
{
    (void)state;
    host_double_block(&block, 0x1ff8);
    host_double_insn(&block, 4, "nop");
    host_double_insn(&block, 4, ".byte 0x0f");
    assert_int_equal(described("x86_64", 1)->insns, 1);
    assert_int_equal(described("x86_64", 7)->insns, 2);
    assert_int_equal(described("aarch64", 1)->insns, 2);
    block.insns[1].text = "nop";
    assert_int_equal(described("x86_64", 1)->insns, 2);
}

static void what_the_host_lacks_is_refused_by_name(void **state)
{
    (void)state;
    struct gt_error err = {0};
    const char *const cpu[] = {"output=/dev/null", "flags=cpu", NULL};
    const char *const unknown[] = {"output=/dev/null", "flags=exec+sky", NULL};
    host_double_start("aarch64", 0, 1);
    assert_int_equal(host_double_install(&err, cpu), GT_E_UNSUPPORTED);
    assert_non_null(strstr(err.text, "flags=cpu"));
    gt_etrace_fini(gt_etrace_loaded());
    assert_int_equal(host_double_install(&err, unknown), GT_E_USAGE);
    assert_non_null(strstr(err.text, "unknown flag sky"));
    host_double_stop();
    host_double_start("pdp11", 0, 7);
    const char *const exec[] = {"output=/dev/null", NULL};
    assert_int_equal(host_double_install(&err, exec), GT_E_UNSUPPORTED);
    host_double_stop();
}

static void all_leaves_out_what_the_host_lacks(void **state)
{
    (void)state;
    const char *const words[] = {"flags=all", NULL};
    recording_begin("aarch64", 0, 1, words);
    assert_non_null(strstr(host_double.messages->str, "flags=all: no registers"));
    assert_non_null(strstr(host_double.messages->str, "values of memory accesses are 0"));
    host_double_nops(&block, 0x1000, 1);
    host_double.events->vcpu_init(host_double.self, 0);
    host_double_translate(&block);
    assert_null(host_double_find(&block, HOST_DOUBLE_EXEC_REGS, -1));
    recording_end();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, recording_setup, recording_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(exec_alone_is_queued),
        TEST(exec_with_others_is_put_at_once),
        TEST(several_vcpus_choose_the_hosts_clock),
        TEST(without_exec_only_time_is_counted),
        TEST(registers_need_a_callback_that_may_read_them),
        TEST(a_machines_single_instruction_is_watched),
        TEST(coverage_counts_inline),
        TEST(coverage_of_a_machine_watches_single_instructions),
        TEST(sizes_are_kept_where_they_differ),
        TEST(a_cut_off_instruction_is_not_counted),
        TEST(what_the_host_lacks_is_refused_by_name),
        TEST(all_leaves_out_what_the_host_lacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
