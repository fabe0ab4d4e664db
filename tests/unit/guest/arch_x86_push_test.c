/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What x86 instructions push and pop, and constants that are addresses of code. */
#include "guest/arch/arch.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct pushes {
    uint8_t bytes[8];
    size_t size;
    int by;
    unsigned width;
    uint64_t value;
};

static const struct pushes forms[] = {
    {{0x68, 0x4a, 0xd0}, 3, 1, 2, 0xd04a}, /* pushw in 16-bit code */
    {{0x66, 0x68, 0xb6, 0x8c, 0x0e, 0x00}, 6, 1, 4, 0xe8cb6},
    {{0x68, 0xb6, 0x8c, 0x0e, 0x00}, 5, 1, 4, 0xe8cb6},
    {{0x68, 0xb6, 0x8c, 0x0e, 0x81}, 5, 1, 4, 0xffffffff810e8cb6}, /* sign-extended */
    {{0x66, 0x68, 0x4a, 0xd0}, 4, 1, 2, 0xd04a},
    {{0x6a, 0x10}, 2, 1, 0, 0}, /* too short for an address */
    {{0x50}, 1, 1, 0, 0},
    {{0x66, 0x57}, 2, 1, 0, 0},
    {{0x41, 0x54}, 2, 1, 0, 0},
    {{0x58}, 1, -1, 0, 0},
    {{0x5f}, 1, -1, 0, 0},
    {{0x41, 0x5f}, 2, -1, 0, 0},
    {{0x06}, 1, 1, 0, 0},
    {{0x0e}, 1, 1, 0, 0},
    {{0x16}, 1, 1, 0, 0},
    {{0x1e}, 1, 1, 0, 0},
    {{0x9c}, 1, 1, 0, 0},
    {{0x07}, 1, -1, 0, 0},
    {{0x17}, 1, -1, 0, 0},
    {{0x1f}, 1, -1, 0, 0},
    {{0x9d}, 1, -1, 0, 0},
    {{0x60}, 1, 8, 0, 0},
    {{0x61}, 1, -8, 0, 0},
    {{0x0f, 0xa0}, 2, 1, 0, 0},
    {{0x0f, 0xa8}, 2, 1, 0, 0},
    {{0x0f, 0xa1}, 2, -1, 0, 0},
    {{0x0f, 0xa9}, 2, -1, 0, 0},
    {{0x0f, 0xa2}, 2, 0, 0, 0},
    {{0x67, 0xff, 0x70, 0x24}, 4, 1, 0, 0},        /* pushw 0x24(%eax) */
    {{0x67, 0x66, 0xff, 0x70, 0x20}, 5, 1, 0, 0},  /* pushl */
    {{0x67, 0x66, 0x8f, 0x40, 0x1c}, 5, -1, 0, 0}, /* popl 0x1c(%eax) */
    {{0xff, 0x36, 0x34, 0x12}, 4, 1, 0, 0},
    {{0xff, 0xd0}, 2, 0, 0, 0}, /* call */
    {{0x8f, 0xc9}, 2, 0, 0, 0}, /* XOP */
    {{0x89, 0x20}, 2, 0, 0, 0},
    {{0x90}, 1, 0, 0, 0},
    {{0}, 0, 0, 0, 0},
    {{0x66}, 1, 0, 0, 0},
};

static void test_forms(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct gt_arch_push push;
        gt_arch_x86_64.pushes(forms[i].bytes, forms[i].size, &push);
        if (push.by != forms[i].by || push.width != forms[i].width || push.value != forms[i].value)
            fail_msg("form %zu: %d, width %u, %#llx", i, push.by, push.width,
                     (unsigned long long)push.value);
    }
}

static void test_addresses(void **state)
{
    (void)state;
    struct gt_arch_push offset = {1, 2, 0xd04a}, flat = {1, 4, 0xe8cb6}, none = {1, 0, 0};
    assert_true(gt_arch_push_is(&offset, 0xfd04a));
    assert_true(gt_arch_push_is(&offset, 0xd04a));
    assert_true(gt_arch_push_is(&offset, 0xcd05a)); /* a segment at any 16 bytes */
    assert_false(gt_arch_push_is(&offset, 0xfd04b));
    assert_false(gt_arch_push_is(&offset, 0xd03a));   /* below the segment 0 */
    assert_false(gt_arch_push_is(&offset, 0x10d04a)); /* above the segment 0xffff */
    assert_true(gt_arch_push_is(&flat, 0xe8cb6));
    assert_false(gt_arch_push_is(&flat, 0xf8cb6));
    assert_false(gt_arch_push_is(&none, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_addresses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
