/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs' memory as their kernel reads it: riscv64's by its page tables, where the host's read by
 * virtual address refuses. A user-mode guest's, and the process's own, also by forked processes:
 * each has its own. */
#include "host_double.h"
#include "qemu/support/guest_memory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

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
    bool ok = gt_support_guest_memory_read(gt_arch_by_target(host_double.info.target), NULL, ADDR,
                                           text, sizeof text);
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

static char letter = 'a';

static char read_letter(void)
{
    char c = 0;
    return gt_support_own_memory_read((uint64_t)(uintptr_t)&letter, &c, 1) == 0 ? c : 0;
}

/* The child's exit status is 0 if it reads what it has written. */
static int forked(char now)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        letter = now;
        _exit(read_letter() == now && (now != 'b' || forked('c') == 0) ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void test_forked(void **state)
{
    (void)state;
    assert_int_equal(read_letter(), 'a');
    assert_int_equal(forked('b'), 0); /* and that one's child */
    assert_int_equal(read_letter(), 'a');
}

static void test_missing(void **state)
{
    (void)state;
    char out[16],
        *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    uint64_t end = (uint64_t)(uintptr_t)pages + PAGE;
    memcpy(pages + PAGE - 8, "12345678", 8);
    assert_int_equal(munmap(pages + PAGE, PAGE), 0);
    assert_int_equal(gt_support_own_memory_read(end - 8, out, 8), 0);
    assert_memory_equal(out, "12345678", 8);
    assert_int_equal(gt_support_own_memory_read(end - 8, out, 16), EFAULT); /* a part is there */
    assert_int_equal(gt_support_own_memory_read(end, out, 8), EFAULT);
    assert_int_equal(gt_support_own_memory_read(0, out, 8), EFAULT);
    munmap(pages, PAGE);
}

/* QEMU before 9.1 reads no memory for plugins. */
static void test_user_mode(void **state)
{
    (void)state;
    char c = 0;
    const uint64_t base = (uint64_t)(uintptr_t)&letter - 0x1000;
    host_double_start("x86_64", 0, 1);
    assert_true(gt_support_guest_memory_read(NULL, &base, 0x1000, &c, 1));
    assert_int_equal(c, 'a');
    assert_false(gt_support_guest_memory_read(NULL, NULL, 0x1000, &c, 1));
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_page_tables), cmocka_unit_test(by_virtual_address),
        cmocka_unit_test(not_elsewhere),  cmocka_unit_test(test_forked),
        cmocka_unit_test(test_missing),   cmocka_unit_test(test_user_mode)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
