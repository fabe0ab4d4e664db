/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs' memory as their kernel reads it: riscv64's by its page tables, where the host's read by
 * virtual address refuses. */
#include "host_double.h"
#include "qemu/support/guest_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

enum { PAGE = 4096, SIZE = 5 * PAGE, USER = 0x13, ADDR = 2 * PAGE - 4 };

static uint64_t physical[SIZE / 8]; /* pages: root, middle, low; two of the program, in reverse */
static struct host_double_register registers[] = {{"priv", {1}, 8}, {"satp", {0}, 8}};

static void start(const char *target, int abi)
{
    static const uint64_t satp = UINT64_C(8) << 60;
    host_double_start(target, 1, abi);
    memset(physical, 0, sizeof physical);
    physical[0] = 1 << 10 | 1;
    physical[PAGE / 8] = 2 << 10 | 1;
    physical[2 * PAGE / 8 + 1] = 4 << 10 | USER;
    physical[2 * PAGE / 8 + 2] = 3 << 10 | USER;
    memcpy((char *)physical + 5 * PAGE - 4, "name", 4);
    memcpy((char *)physical + 3 * PAGE, " of it", 6);
    registers[0].bytes[0] = 1;
    memcpy(registers[1].bytes, &satp, sizeof satp);
    host_double.registers = registers;
    host_double.n_registers = G_N_ELEMENTS(registers);
    host_double.physical = (const uint8_t *)physical;
    host_double.physical_size = sizeof physical;
}

static bool read_name(void)
{
    char text[10] = "";
    bool ok = gt_support_guest_memory_read(gt_arch_by_target(host_double.info.target), ADDR, text,
                                           sizeof text);
    if (ok)
        assert_memory_equal(text, "name of it", sizeof text);
    return ok;
}

static void by_page_tables(void **state)
{
    (void)state;
    start("riscv64", 7);
    assert_true(read_name());
    registers[0].bytes[0] = 5; /* in a virtual machine: satp is not what translates */
    assert_false(read_name());
    registers[0].bytes[0] = 3;
    assert_false(read_name());
    registers[0].bytes[0] = 1;
    physical[2 * PAGE / 8 + 2] = 0; /* the second page is missing */
    assert_false(read_name());
    physical[2 * PAGE / 8 + 2] = 99 << 10 | USER; /* it is in no memory */
    assert_false(read_name());
    host_double_stop();
}

static void by_virtual_address(void **state)
{
    (void)state;
    start("riscv64", 7);
    physical[0] = 0;
    host_double.memory = (const uint8_t *)"name of it";
    host_double.memory_addr = ADDR;
    host_double.memory_size = 10;
    assert_true(read_name());
    host_double_stop();
}

static void not_elsewhere(void **state)
{
    (void)state;
    start("riscv64", 4); /* without reads of physical memory */
    assert_false(read_name());
    host_double_stop();
    start("aarch64", 7);
    assert_false(read_name());
    host_double_stop();
}

const char gt_host_tool_name[] = "test";

int gt_host_tool_install(const struct gt_host_info *info, int argc, char **argv,
                         struct gt_error *err)
{
    (void)info, (void)argc, (void)argv, (void)err;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_page_tables),
                                       cmocka_unit_test(by_virtual_address),
                                       cmocka_unit_test(not_elsewhere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
