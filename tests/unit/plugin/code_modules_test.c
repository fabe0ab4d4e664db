/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code that is recognised by its bytes while a machine runs. */
#include "qemu/support/code_modules.h"

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
static struct gt_track_func anon = {.flags = GT_FUNC_ANON};

static bool is_user(void *self)
{
    (void)self;
    return user;
}

/* The bytes of a function: its number, over and over. 100 is the firmware's only one. */
static const uint8_t *bytes_of(unsigned i)
{
    static uint8_t bytes[GT_CODE_HASHED];
    memset(bytes, (int)i + 1, sizeof bytes);
    return bytes;
}

static struct gt_support_code_modules *make_of(const struct gt_recording_code_map *map)
{
    char path[] = "/tmp/code_modules_test.XXXXXX";
    struct gt_text text = {0};
    struct gt_support_code_modules *c = NULL;
    struct gt_error err = {0};
    close(mkstemp(path));
    assert_int_equal(gt_recording_code_map_write(&text, map, NULL), 0);
    assert_int_equal(gt_file_replace_text(path, &text, NULL), 0);
    assert_int_equal(gt_support_code_modules_read(path, &anon, is_user, NULL, &c, &err), 0);
    unlink(path);
    gt_text_free(&text);
    user = false;
    return c;
}

static struct gt_support_code_modules *make(void)
{
    struct gt_recording_code_function function[1 + KERNEL_FUNCTIONS] = {
        {FW, SIZE, gt_recording_code_hash(bytes_of(100)), "_start", true}};
    struct gt_recording_code_module module[] = {
        {FW, FW + SIZE, "/fw.elf", 0, 1}, {LINK, LINK + 0x10000, "/Image", 1, KERNEL_FUNCTIONS}};
    struct gt_recording_code_map map = {
        .module = module, .n_modules = 2, .function = function, .n_functions = 7};
    for (unsigned i = 0; i < KERNEL_FUNCTIONS; i++)
        function[1 + i] = (struct gt_recording_code_function){
            LINK + STEP * i, SIZE, gt_recording_code_hash(bytes_of(i)), names[i], true};
    return make_of(&map);
}

/* A block begins there; that much of it can be read. */
static struct gt_support_module *block_at(struct gt_support_code_modules *c, uint64_t pc,
                                          const uint8_t *at, size_t left)
{
    const struct gt_support_code_page bytes = {at, 0, left};
    return gt_support_code_modules_at(c, pc, &bytes);
}

/* A block of function i begins where it is at that offset. */
static struct gt_support_module *block(struct gt_support_code_modules *c, unsigned i,
                                       uint64_t offset)
{
    return block_at(c, LINK + STEP * i + offset, bytes_of(i), GT_CODE_HASHED);
}

static const char *name_at(struct gt_support_code_modules *c, uint64_t pc)
{
    struct gt_support_module *m = gt_support_code_modules_at(c, pc, NULL);
    const char *name =
        m ? gt_support_code_module_name(m, gt_support_code_module_func(m, pc)) : "no module";
    return name ? name : "(none)";
}

static void test_linked(void **state)
{
    (void)state;
    struct gt_support_code_modules *c = make();
    assert_null(block_at(c, FW, bytes_of(99), GT_CODE_HASHED));
    assert_null(block_at(c, FW, bytes_of(100), GT_CODE_HASHED - 1));
    assert_null(gt_support_code_modules_at(c, FW, NULL));
    struct gt_support_module *m = block_at(c, FW, bytes_of(100), GT_CODE_HASHED);
    assert_non_null(m);
    assert_true(m->recognised && m->lo == FW && m->hi == FW + SIZE);
    assert_string_equal(name_at(c, FW), "_start");
    assert_string_equal(name_at(c, FW + SIZE - 1), "_start");
    assert_string_equal(name_at(c, FW + SIZE), "no module");
    gt_support_code_modules_free(c);
}

/* Elsewhere it takes two functions, whole pages away. */
static void test_moved(void **state)
{
    (void)state;
    struct gt_support_code_modules *c = make();
    const uint64_t by = UINT64_C(0x123000);
    assert_null(block(c, 0, by));
    assert_null(block(c, 0, by)); /* the same again */
    assert_null(block(c, 1, by + 8));
    assert_null(block(c, 0, by + 8));
    assert_null(block(c, 1, by + 0x1000));
    assert_int_equal(gt_support_code_modules_count(c), 0);
    struct gt_support_module *m = block(c, 1, by);
    assert_non_null(m);
    assert_true(m->lo == LINK + by && m->hi == LINK + by + 0x10000);
    assert_ptr_equal(block(c, 4, by), m);
    assert_int_equal(gt_support_code_modules_count(c), 1);
    assert_string_equal(name_at(c, LINK + by + 4 * STEP + 8), "last");
    gt_support_code_modules_free(c);
}

static void test_functions(void **state)
{
    (void)state;
    struct gt_support_code_modules *c = make();
    struct gt_support_module *m = block(c, 0, 0);
    struct gt_track_func *two = gt_support_code_module_func(m, LINK + STEP);
    assert_true(two->lo == LINK + STEP && two->hi == LINK + STEP + SIZE && two->flags == 0);
    assert_ptr_equal(gt_support_code_module_func(m, LINK + 2 * STEP), two); /* two.cold */
    assert_ptr_equal(gt_support_code_module_func(m, LINK + STEP + SIZE), &anon);
    assert_null(gt_support_code_module_name(m, &anon));
    assert_int_equal(gt_support_code_module_func(m, LINK + 3 * STEP)->flags, GT_FUNC_VECTORS);
    assert_int_equal(gt_support_code_module_func(m, LINK + 5 * STEP)->flags, GT_FUNC_STUB);
    gt_support_code_modules_free(c);
}

/* Before its MMU is on, and after. What was found last counts where places overlap. */
static void test_places(void **state)
{
    (void)state;
    struct gt_support_code_modules *c = make();
    block(c, 0, LOW - LINK);
    struct gt_support_module *low = block(c, 1, LOW - LINK);
    struct gt_support_module *high = block(c, 0, 0);
    assert_non_null(low);
    assert_ptr_not_equal(low, high);
    assert_null(gt_support_code_module_name(low, gt_support_code_module_func(high, LINK)));
    assert_null(gt_support_code_module_name(high, gt_support_code_module_func(low, LOW)));
    assert_ptr_equal(block_at(c, LOW, bytes_of(0), GT_CODE_HASHED), low);
    user = true; /* a program's page, where the kernel once was */
    assert_null(block_at(c, LOW, bytes_of(0), GT_CODE_HASHED));
    assert_ptr_equal(block(c, 0, 0), high);
    user = false;
    block(c, 0, LOW - LINK + STEP);
    struct gt_support_module *later = block(c, 4, LOW - LINK + STEP);
    assert_true(later->lo == LOW + STEP);
    assert_ptr_equal(gt_support_code_modules_at(c, LOW + 2 * STEP, NULL), later);
    assert_ptr_equal(gt_support_code_modules_at(c, LOW, NULL), low);
    gt_support_code_modules_free(c);
}

static void test_found(void **state)
{
    (void)state;
    char path[] = "/tmp/code_modules_test.XXXXXX", *text;
    size_t size;
    struct gt_support_code_modules *c = make();
    close(mkstemp(path));
    block(c, 0, 0);
    block(c, 0, LOW - LINK);
    block(c, 1, LOW - LINK);
    assert_int_equal(gt_support_code_modules_write(c, path, NULL), 0);
    assert_int_equal(gt_file_read(path, 1000, &text, &size, NULL), 0);
    assert_string_equal(text, "1 0\n1 800038200000\n");
    free(text);
    unlink(path);
    gt_support_code_modules_free(c);
}

/* Two modules of a kernel, linked at 0: of 12 known bytes at 0x10 and 0x40, one of 40 at 0x80; the
 * other's has 40 at 0x10, and at 0x80 what the first has. The third byte may be any. */
enum { SHORT = 12, LONG = 40 };
#define HIGH UINT64_C(0xffffffffc0200000)

static const struct gt_recording_code_pattern *pattern_of(unsigned i, unsigned n)
{
    static struct gt_recording_code_pattern p[8];
    p[i] = (struct gt_recording_code_pattern){.n = (uint8_t)(n + 1)};
    for (unsigned at = 0; at < n + 1; at++)
        if (at != 2)
            gt_recording_code_pattern_set(&p[i], at, (uint8_t)(i + 1));
    return &p[i];
}

static struct gt_support_code_modules *make_modules(void)
{
    struct gt_recording_code_function function[] = {
        {0x10, 0x30, 0, "a_first", false, pattern_of(0, SHORT)},
        {0x40, 0x30, 0, "a_second", false, pattern_of(1, SHORT)},
        {0x80, 0x30, 0, "a_long", false, pattern_of(2, LONG)},
        {0x10, 0x30, 0, "b_long", false, pattern_of(3, LONG)},
        {0x80, 0x30, 0, "b_twin", false, pattern_of(2, LONG)},
        {0xc0, 0x30, 0, "b_few", false, pattern_of(4, 7)},
        {0x100, 0x30, 0, "b_none", false, NULL},
    };
    struct gt_recording_code_module module[] = {{0, 0x200, "/a.ko", 0, 3},
                                                {0, 0x180, "/b.ko", 3, 4}};
    const struct gt_recording_code_map map = {
        .module = module, .n_modules = 2, .function = function, .n_functions = 7};
    return make_of(&map);
}

/* A block with the bytes of pattern i at an offset in the page there. */
static const char *module_block(struct gt_support_code_modules *c, unsigned i, uint64_t pc,
                                size_t left)
{
    uint8_t bytes[64];
    memset(bytes, (int)i + 1, sizeof bytes);
    const struct gt_support_module *m = block_at(c, pc, bytes, left);
    return m ? m->path : "no module";
}

static void test_patterns(void **state)
{
    (void)state;
    struct gt_support_code_modules *c = make_modules();
    /* few bytes: it takes two functions; only in the upper half; only where it begins in a page */
    assert_string_equal(module_block(c, 0, HIGH + 0x10, 64), "no module");
    assert_string_equal(module_block(c, 0, HIGH + 0x10, 64), "no module");
    assert_string_equal(module_block(c, 1, HIGH + 0x1040, 64), "no module");
    assert_string_equal(module_block(c, 1, HIGH + 0x50, 64), "no module");
    assert_string_equal(module_block(c, 1, HIGH + 0x40, 7), "no module");
    assert_string_equal(module_block(c, 3, 0x7fffc0200010, 64), "no module");
    assert_string_equal(module_block(c, 4, HIGH + 0xc0, 64), "no module");
    assert_string_equal(module_block(c, 2, HIGH + 0x80, 64), "no module"); /* either's */
    assert_int_equal(gt_support_code_modules_count(c), 0);
    assert_string_equal(module_block(c, 1, HIGH + 0x40, 64), "/a.ko");
    assert_string_equal(name_at(c, HIGH + 0x80), "a_long");
    /* many bytes: one is enough; what was seen last counts, also when it is there again */
    assert_string_equal(module_block(c, 3, HIGH + 0x10, 64), "/b.ko");
    assert_string_equal(name_at(c, HIGH + 0x100), "b_none");
    assert_string_equal(name_at(c, HIGH + 0x1c0), "(none)");
    assert_string_equal(module_block(c, 0, HIGH + 0x10, 64), "/a.ko");
    assert_string_equal(name_at(c, HIGH + 0x40), "a_second");
    assert_string_equal(module_block(c, 3, HIGH + 0x10, 64), "/b.ko");
    assert_string_equal(name_at(c, HIGH + 0x80), "b_twin");
    assert_int_equal(gt_support_code_modules_instances(c), 2);
    gt_support_code_modules_free(c);
}

static void test_seen(void **state)
{
    (void)state;
    char path[] = "/tmp/code_modules_test.XXXXXX", *text;
    size_t size;
    struct gt_support_code_modules *c = make_modules();
    close(mkstemp(path));
    module_block(c, 0, HIGH + 0x10, 64);
    assert_int_equal(gt_support_code_modules_count(c), 0);
    module_block(c, 1, HIGH + 0x40, 64); /* and the first one, now that it is certain */
    assert_int_equal(gt_support_code_modules_instances(c), 1);
    assert_int_equal(gt_support_code_modules_count(c), 3);
    module_block(c, 1, HIGH + 0x40, 64);
    module_block(c, 3, HIGH + 0x10, 64);
    assert_int_equal(gt_support_code_modules_instances(c), 2);
    assert_int_equal(gt_support_code_modules_count(c), 5);
    assert_int_equal(gt_support_code_modules_write(c, path, NULL), 0);
    assert_int_equal(gt_file_read(path, 1000, &text, &size, NULL), 0);
    assert_string_equal(text, "0 ffffffffc0200000 0 1\n1 ffffffffc0200000 0\n");
    free(text);
    unlink(path);
    gt_support_code_modules_free(c);
}

/* A page of memory: module a, b, or neither. */
static const uint8_t *page_of(char module)
{
    static uint8_t page[0x1000];
    memset(page, 0xcc, sizeof page);
    if (module == 'a') {
        memset(page + 0x10, 1, 0x30);
        memset(page + 0x40, 2, 0x30);
    } else if (module == 'b') {
        memset(page + 0x10, 4, 0x30);
    }
    if (module)
        memset(page + 0x80, 3, LONG + 1);
    return page;
}

static const char *page_block(struct gt_support_code_modules *c, char module, uint64_t in_page)
{
    const struct gt_support_code_page bytes = {page_of(module) + in_page, in_page,
                                               0x1000 - in_page};
    const struct gt_support_module *m = gt_support_code_modules_at(c, HIGH + in_page, &bytes);
    return m ? m->path : "no module";
}

/* What else is in the page says which module it is, and that one is gone. */
static void test_pages(void **state)
{
    (void)state;
    struct gt_support_code_modules *c = make_modules();
    assert_string_equal(page_block(c, 0, 0x10), "no module");
    assert_string_equal(page_block(c, 'a', 0x10), "/a.ko");
    assert_string_equal(page_block(c, 'a', 0x1f0), "/a.ko");
    assert_string_equal(page_block(c, 0, 0x10), "no module");
    assert_string_equal(page_block(c, 0, 0x1f0), "no module");
    assert_string_equal(page_block(c, 'b', 0x10), "/b.ko");
    assert_string_equal(page_block(c, 'b', 0x48), "/b.ko");
    assert_string_equal(page_block(c, 0, 0x48), "no module");
    assert_string_equal(page_block(c, 'a', 0x40), "/a.ko");
    assert_string_equal(name_at(c, HIGH + 0x40), "a_second");
    assert_int_equal(gt_support_code_modules_instances(c), 2);
    gt_support_code_modules_free(c);
}

static void test_unreadable(void **state)
{
    (void)state;
    struct gt_support_code_modules *c = NULL;
    struct gt_error err = {0};
    assert_int_equal(gt_support_code_modules_read("/nowhere/code", &anon, NULL, NULL, &c, &err),
                     GT_E_NOT_FOUND);
    assert_int_equal(
        gt_support_code_modules_read("/proc/self/cmdline", &anon, NULL, NULL, &c, &err),
        GT_E_TRUNC);
    assert_non_null(strstr(err.text, "/proc/self/cmdline"));
    gt_support_code_modules_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linked),     cmocka_unit_test(test_moved),
        cmocka_unit_test(test_functions),  cmocka_unit_test(test_places),
        cmocka_unit_test(test_found),      cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_seen),       cmocka_unit_test(test_pages),
        cmocka_unit_test(test_unreadable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
