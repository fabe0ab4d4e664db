/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code that is recognised by its bytes while a machine runs. */
#include "plugin/code_modules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Link addresses: firmware, and a kernel that runs elsewhere. */
#define FW   UINT64_C(0x80000000)
#define LINK UINT64_C(0xffff800008010000)
#define LOW  UINT64_C(0x40210000)

static const char *const names[] = {
    "one", "two", "two.cold", "asm_exc_page_fault", "last", "its_return_thunk"};
enum { KERNEL_FUNCTIONS = 6, STEP = 0x1000, SIZE = 0x100 };

static bool user;
static struct gt_func anon = {.flags = GT_FUNC_ANON};

static bool is_user(void)
{
    return user;
}

/* The bytes of a function: its number, over and over. 100 is the firmware's only one. */
static const uint8_t *bytes_of(unsigned i)
{
    static uint8_t bytes[GT_CODE_HASHED];
    memset(bytes, (int)i + 1, sizeof bytes);
    return bytes;
}

static struct gt_code_modules *make(void)
{
    struct gt_code_function function[1 + KERNEL_FUNCTIONS] = {
        {FW, SIZE, gt_code_hash(bytes_of(100)), "_start", true}};
    struct gt_code_module module[] = {{FW, FW + SIZE, "/fw.elf", 0, 1},
                                      {LINK, LINK + 0x10000, "/Image", 1, KERNEL_FUNCTIONS}};
    struct gt_code_map map = {
        .module = module, .n_modules = 2, .function = function, .n_functions = 7};
    for (unsigned i = 0; i < KERNEL_FUNCTIONS; i++)
        function[1 + i] = (struct gt_code_function){LINK + STEP * i, SIZE,
                                                    gt_code_hash(bytes_of(i)), names[i], true};
    char path[] = "/tmp/code_modules_test.XXXXXX";
    struct gt_text text = {0};
    struct gt_code_modules *c = NULL;
    struct gt_error err = {0};
    close(mkstemp(path));
    assert_int_equal(gt_code_map_write(&text, &map, NULL), 0);
    assert_int_equal(gt_file_replace_text(path, &text, NULL), 0);
    assert_int_equal(gt_code_modules_read(path, &anon, is_user, &c, &err), 0);
    unlink(path);
    gt_text_free(&text);
    user = false;
    return c;
}

/* A block of function i begins where it is at that offset. */
static struct gt_module *block(struct gt_code_modules *c, unsigned i, uint64_t offset)
{
    return gt_code_modules_at(c, LINK + STEP * i + offset, bytes_of(i), GT_CODE_HASHED);
}

static const char *name_at(struct gt_code_modules *c, uint64_t pc)
{
    struct gt_module *m = gt_code_modules_at(c, pc, NULL, 0);
    return m ? gt_code_module_name(m, gt_code_module_func(m, pc)) : "no module";
}

static void test_linked(void **state)
{
    (void)state;
    struct gt_code_modules *c = make();
    assert_null(gt_code_modules_at(c, FW, bytes_of(99), GT_CODE_HASHED));
    assert_null(gt_code_modules_at(c, FW, bytes_of(100), GT_CODE_HASHED - 1));
    assert_null(gt_code_modules_at(c, FW, NULL, 0));
    struct gt_module *m = gt_code_modules_at(c, FW, bytes_of(100), GT_CODE_HASHED);
    assert_non_null(m);
    assert_true(m->recognised && m->lo == FW && m->hi == FW + SIZE);
    assert_string_equal(name_at(c, FW), "_start");
    assert_string_equal(name_at(c, FW + SIZE - 1), "_start");
    assert_string_equal(name_at(c, FW + SIZE), "no module");
    gt_code_modules_free(c);
}

/* Elsewhere it takes two functions, whole pages away. */
static void test_moved(void **state)
{
    (void)state;
    struct gt_code_modules *c = make();
    const uint64_t by = UINT64_C(0x123000);
    assert_null(block(c, 0, by));
    assert_null(block(c, 0, by)); /* the same again */
    assert_null(block(c, 1, by + 8));
    assert_null(block(c, 0, by + 8));
    assert_null(block(c, 1, by + 0x1000));
    assert_int_equal(gt_code_modules_count(c), 0);
    struct gt_module *m = block(c, 1, by);
    assert_non_null(m);
    assert_true(m->lo == LINK + by && m->hi == LINK + by + 0x10000);
    assert_ptr_equal(block(c, 4, by), m);
    assert_int_equal(gt_code_modules_count(c), 1);
    assert_string_equal(name_at(c, LINK + by + 4 * STEP + 8), "last");
    gt_code_modules_free(c);
}

static void test_functions(void **state)
{
    (void)state;
    struct gt_code_modules *c = make();
    struct gt_module *m = block(c, 0, 0);
    struct gt_func *two = gt_code_module_func(m, LINK + STEP);
    assert_true(two->lo == LINK + STEP && two->hi == LINK + STEP + SIZE && two->flags == 0);
    assert_ptr_equal(gt_code_module_func(m, LINK + 2 * STEP), two); /* two.cold */
    assert_ptr_equal(gt_code_module_func(m, LINK + STEP + SIZE), &anon);
    assert_null(gt_code_module_name(m, &anon));
    assert_int_equal(gt_code_module_func(m, LINK + 3 * STEP)->flags, GT_FUNC_VECTORS);
    assert_int_equal(gt_code_module_func(m, LINK + 5 * STEP)->flags, GT_FUNC_STUB);
    gt_code_modules_free(c);
}

/* Before its MMU is on, and after. What was found last counts where places overlap. */
static void test_places(void **state)
{
    (void)state;
    struct gt_code_modules *c = make();
    block(c, 0, LOW - LINK);
    struct gt_module *low = block(c, 1, LOW - LINK);
    struct gt_module *high = block(c, 0, 0);
    assert_non_null(low);
    assert_ptr_not_equal(low, high);
    assert_null(gt_code_module_name(low, gt_code_module_func(high, LINK)));
    assert_null(gt_code_module_name(high, gt_code_module_func(low, LOW)));
    assert_ptr_equal(gt_code_modules_at(c, LOW, bytes_of(0), GT_CODE_HASHED), low);
    user = true; /* a program's page, where the kernel once was */
    assert_null(gt_code_modules_at(c, LOW, bytes_of(0), GT_CODE_HASHED));
    assert_ptr_equal(block(c, 0, 0), high);
    user = false;
    block(c, 0, LOW - LINK + STEP);
    struct gt_module *later = block(c, 4, LOW - LINK + STEP);
    assert_true(later->lo == LOW + STEP);
    assert_ptr_equal(gt_code_modules_at(c, LOW + 2 * STEP, NULL, 0), later);
    assert_ptr_equal(gt_code_modules_at(c, LOW, NULL, 0), low);
    gt_code_modules_free(c);
}

static void test_found(void **state)
{
    (void)state;
    char path[] = "/tmp/code_modules_test.XXXXXX", *text;
    size_t size;
    struct gt_code_modules *c = make();
    close(mkstemp(path));
    block(c, 0, 0);
    block(c, 0, LOW - LINK);
    block(c, 1, LOW - LINK);
    assert_int_equal(gt_code_modules_write(c, path, NULL), 0);
    assert_int_equal(gt_file_read(path, 1000, &text, &size, NULL), 0);
    assert_string_equal(text, "1 0\n1 800038200000\n");
    free(text);
    unlink(path);
    gt_code_modules_free(c);
}

static void test_unreadable(void **state)
{
    (void)state;
    struct gt_code_modules *c = NULL;
    struct gt_error err = {0};
    assert_int_equal(gt_code_modules_read("/nowhere/code", &anon, NULL, &c, &err), GT_E_NOT_FOUND);
    assert_int_equal(gt_code_modules_read("/proc/self/cmdline", &anon, NULL, &c, &err), GT_E_TRUNC);
    assert_non_null(strstr(err.text, "/proc/self/cmdline"));
    gt_code_modules_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linked),    cmocka_unit_test(test_moved),
        cmocka_unit_test(test_functions), cmocka_unit_test(test_places),
        cmocka_unit_test(test_found),     cmocka_unit_test(test_unreadable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
