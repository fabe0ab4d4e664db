/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The double of QEMU itself: what a plugin registers runs in QEMU's order. */
#include "host_double.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

const char gt_host_tool_name[] = "test";

static GString *order;
static struct gt_host_scoreboard_entry entry;

int gt_host_tool_install(const struct gt_host_info *info, int argc, char **argv,
                         struct gt_error *err)
{
    (void)info, (void)argv, (void)err;
    return argc;
}

static void on_exec(unsigned vcpu, void *data)
{
    g_string_append_printf(order, "%s%u ", (const char *)data, vcpu);
}

static void on_memory(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *data)
{
    uint64_t value[2];
    gt_host_mem_value(meminfo, value);
    g_string_append_printf(order, "%s%u:%s%u@%d=%d ", (const char *)data, vcpu,
                           gt_host_mem_is_store(meminfo) ? "store" : "load",
                           gt_host_mem_size(meminfo), (int)vaddr, (int)value[0]);
}

static void on_translate(void *self, struct gt_host_block *block)
{
    assert_ptr_equal(self, &order);
    gt_host_insn_on_exec(gt_host_block_insn(block, 1), on_exec, (void *)"second");
    gt_host_insn_store(gt_host_block_insn(block, 0), entry, 7);
    gt_host_insn_on_exec_ne(gt_host_block_insn(block, 1), on_exec, entry, 7, (void *)"never");
    gt_host_insn_on_memory(gt_host_block_insn(block, 1), on_memory, GT_MEM_STORES,
                           (void *)"access");
    gt_host_block_on_exec(block, on_exec, (void *)"block");
    gt_host_block_on_exec_regs(block, on_exec, (void *)"regs");
}

static void on_exit_event(void *self)
{
    (void)self;
}

static int setup(void **state)
{
    (void)state;
    static const struct gt_host_events events = {.translate = on_translate, .exit = on_exit_event};
    host_double_start("aarch64", 2, 7);
    order = g_string_new(NULL);
    entry = (struct gt_host_scoreboard_entry){gt_host_scoreboard_new(16), 8};
    gt_host_subscribe(&events, &order);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    g_string_free(order, TRUE);
    host_double_stop();
    return 0;
}

static void hooks_run_in_order(void **state)
{
    (void)state;
    static struct gt_host_block b;
    host_double_nops(&b, 0x1000, 2);
    host_double_translate(&b);
    host_double_run(&b, 1);
    assert_string_equal(order->str, "block1 regs1 second1 ");
    assert_int_equal(host_double_count(&b, HOST_DOUBLE_EXEC, -1), 1);
    assert_int_equal(host_double_find(&b, HOST_DOUBLE_STORE, 0)->value, 7);
    assert_null(host_double_find(&b, HOST_DOUBLE_STORE, 1));
}

static void an_access_has_its_callback(void **state)
{
    (void)state;
    static struct gt_host_block b;
    const struct host_double_access load = {.vaddr = 5, .size = 8};
    const struct host_double_access store = {.vaddr = 5, .size = 4, .store = true, .value = {3}};
    host_double_nops(&b, 0x1000, 2);
    host_double_translate(&b);
    host_double_access(&b, 1, 1, &load);
    host_double_access(&b, 1, 0, &store);
    host_double_access(&b, 1, 1, &store);
    assert_string_equal(order->str, "access1:store4@5=3 ");
}

static void scoreboard_keeps_its_values_when_it_moves(void **state)
{
    (void)state;
    uint64_t *at = gt_host_scoreboard_find(entry.scoreboard, 1);
    at[1] = 42;
    host_double_move_scoreboard();
    assert_ptr_not_equal(gt_host_scoreboard_find(entry.scoreboard, 1), at);
    assert_int_equal(((uint64_t *)gt_host_scoreboard_find(entry.scoreboard, 1))[1], 42);
}

static void features_follow_the_abi(void **state)
{
    (void)state;
    assert_true(gt_host_can(GT_HOST_DISCONTINUITY) && !gt_host_can(GT_HOST_SYSCALLS));
    host_double_stop();
    host_double_start("x86_64", 0, 1);
    assert_true(gt_host_can(GT_HOST_SYSCALLS) && !gt_host_can(GT_HOST_SCOREBOARD));
    const char *const words[] = {"a=1", "b=2", NULL};
    assert_int_equal(host_double_install(NULL, words), 2);
    gt_host_message("%d", 5);
    assert_string_equal(host_double.messages->str, "5\n");
}

static void registers_and_memory_are_the_tests(void **state)
{
    (void)state;
    struct host_double_register registers[] = {{"X0", {1, 2}, 2}, {"pc", {9}, 8}};
    const uint8_t memory[] = {1, 2, 3, 4};
    struct gt_host_register r = {0}, none = {0};
    uint64_t value;
    host_double.registers = registers;
    host_double.n_registers = 2;
    host_double.memory = memory;
    host_double.memory_addr = 0x100;
    host_double.memory_size = sizeof memory;
    assert_true(gt_host_register_read(&r, "x0", &value) && value == 0x201);
    assert_false(gt_host_register_read(&none, "x1", &value));
    assert_string_equal(gt_host_register_name(1), "pc");
    assert_true(gt_host_memory_number(0x102, 2, &value) && value == 0x403);
    assert_false(gt_host_memory_number(0x103, 2, &value));
    assert_string_equal(gt_host_program_in("qemu\0-cpu\0max\0prog", 19), "prog");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(hooks_run_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(an_access_has_its_callback, setup, teardown),
        cmocka_unit_test_setup_teardown(scoreboard_keeps_its_values_when_it_moves, setup, teardown),
        cmocka_unit_test_setup_teardown(features_follow_the_abi, setup, teardown),
        cmocka_unit_test_setup_teardown(registers_and_memory_are_the_tests, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
