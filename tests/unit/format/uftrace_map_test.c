/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sid-SID.map. */
#include "recording/directory/uftrace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STACK "ffffffffffff-ffffffffffff rw-p 00000000 00:00 0 [stack]\n"

static const struct gt_uftrace_mapping map[] = {
    {UINT64_C(0xffff800010000000), UINT64_C(0xffff800011000000), "/boot/vm linux", NULL},
    {0x400000, 0x401000, "/bin/a", "0123456789abcdef0123456789abcdef01234567"},
    {UINT64_C(0xfffffffffffff000), 0, "/top", "not hex"},
};
static const char text[] = "800010000000-800011000000 r-xp 00000000 00:00 0 /boot/vm_linux\n"
                           "000000400000-000000401000 r-xp 00000000 00:00 0 /bin/a "
                           "build-id:0123456789abcdef0123456789abcdef01234567\n"
                           "fffffffff000-ffffffffffff r-xp 00000000 00:00 0 /top\n" STACK;

static void test_round_trip(void **state)
{
    (void)state;
    struct gt_text t = {0};
    struct gt_uftrace_map got;
    assert_int_equal(gt_uftrace_map_write(&t, map, 3, NULL), 0);
    assert_string_equal(t.data, text);
    assert_int_equal(gt_uftrace_map_read(t.data, t.len, &got, NULL), 0);
    assert_true(got.has_stack);
    assert_int_equal(got.n, 3);
    assert_true(got.line[0].start == UINT64_C(0x800010000000));
    assert_string_equal(got.line[0].path, "/boot/vm_linux");
    assert_string_equal(got.line[0].build_id, "");
    assert_string_equal(got.line[1].path, "/bin/a");
    assert_string_equal(got.line[1].build_id, map[1].build_id);
    gt_uftrace_map_free(&got);
    gt_text_free(&t);
    assert_int_equal(gt_uftrace_map_write(&t, NULL, 0, NULL), 0);
    assert_string_equal(t.data, STACK);
    gt_text_free(&t);
}

static void test_every_cut(void **state)
{
    (void)state;
    size_t lines = 0;
    for (size_t n = 0; n < sizeof text; n++) {
        struct gt_uftrace_map got;
        char *exact = malloc(n ? n : 1);
        assert_non_null(exact);
        memcpy(exact, text, n);
        bool whole = n == 0 || text[n - 1] == '\n';
        lines += n > 0 && whole;
        assert_int_equal(gt_uftrace_map_read(exact, n, &got, NULL), whole ? 0 : GT_E_TRUNC);
        if (whole) {
            assert_int_equal(got.n, lines < 4 ? lines : 3);
            gt_uftrace_map_free(&got);
        }
        free(exact);
    }
}

static int write_two(uint64_t s0, uint64_t e0, uint64_t s1, uint64_t e1, const char *second)
{
    const struct gt_uftrace_mapping two[] = {{s0, e0, "/a b", NULL}, {s1, e1, second, NULL}};
    struct gt_text t = {0};
    struct gt_error err = {0};
    int status = gt_uftrace_map_write(&t, two, 2, &err);
    assert_true(status == 0 || (err.text[0] && t.len == 0) || strstr(err.text, "twice"));
    gt_text_free(&t);
    return status;
}

static void test_refuses(void **state)
{
    (void)state;
    assert_int_equal(write_two(0x1000, 0x2000, 0x2000, 0x3000, "/b"), 0);
    assert_int_equal(write_two(0x2000, 0x3000, 0x1000, 0x2000, "/b"), 0);
    assert_int_equal(write_two(0x1000, 0x2001, 0x2000, 0x3000, "/b"), GT_E_RANGE);
    assert_int_equal(write_two(0x2000, 0x3000, 0x1000, 0x2001, "/b"), GT_E_RANGE);
    assert_int_equal(write_two(0x1000, 0x2000, 0x1000, 0x2000, "/b"), GT_E_RANGE);
    assert_int_equal(write_two(0x1000, 0x1000, 0x2000, 0x3000, "/b"), GT_E_RANGE);
    assert_int_equal(write_two(0x1000, 0x800, 0x2000, 0x3000, "/b"), GT_E_RANGE);
    /* Overlapping only after the cut to 48 bits. */
    assert_int_equal(
        write_two(UINT64_C(0xffff000000001000), UINT64_C(0xffff000000002000), 0x1000, 0x2000, "/b"),
        GT_E_RANGE);
    /* Readers would take the two for one. */
    assert_int_equal(write_two(0x1000, 0x2000, 0x8000, 0x9000, "/a_b"), GT_E_RANGE);
}

static void test_hostile(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "x\n",
        "1000-2000\n",
        "2000-1000 r-xp 0 0:0 0 /a\n",
        "11111111111111111-2 r-xp 0 0:0 0 /a\n",
        "1000-2000 rwxps 0 0:0 0 /a\n",
        "1000-2000 r-xp 0 0 0 /a\n",
        "1000-2000 r-xp 0 0:0 zero /a\n",
        "1000-2000 r-xp 0 0:0 0 /a build-id:xyz\n",
        "1000-2000 r-xp 0 0:0 0 /a build-id:11111111112222222222333333333344444444445\n",
        "1000-2000 r-xp 0 0:0 0 /a something else\n",
    };
    struct gt_uftrace_map got;
    struct gt_error err = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(gt_uftrace_map_read(bad[i], strlen(bad[i]), &got, &err), GT_E_FORMAT);
        assert_non_null(strstr(err.text, "line 1"));
    }
    static const char anonymous[] = "1000-2000 r-xp 0 0:0 0\n3000-4000 r--p 0 0:0 12    /a\n";
    assert_int_equal(gt_uftrace_map_read(anonymous, sizeof anonymous - 1, &got, NULL), 0);
    assert_int_equal(got.n, 1);
    assert_string_equal(got.line[0].path, "/a");
    assert_false(got.has_stack);
    gt_uftrace_map_free(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
