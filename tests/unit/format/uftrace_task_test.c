/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of task.txt and the rule for paths. */
#include "recording/directory/uftrace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    struct gt_uftrace_task task;
    const char *line;
} good[] = {
    {{.kind = GT_UFTRACE_SESS,
      .time = 1234000000005,
      .pid = 7,
      .sid = "00000000000000a1",
      .path = "/bin/a"},
     "SESS timestamp=1234.000000005 pid=7 sid=00000000000000a1 exename=\"/bin/a\"\n"},
    {{.kind = GT_UFTRACE_TASK, .time = 999999999, .tid = 8, .pid = 7},
     "TASK timestamp=0.999999999 tid=8 pid=7\n"},
    {{.kind = GT_UFTRACE_FORK, .time = 1000000000, .tid = 2147483647, .pid = 1},
     "FORK timestamp=1.000000000 pid=2147483647 ppid=1\n"},
    {{.kind = GT_UFTRACE_DLOP,
      .time = 1,
      .tid = 8,
      .sid = "ffffffffffffffff",
      .base = 0x7f0000000000,
      .path = "lib.so"},
     "DLOP timestamp=0.000000001 tid=8 sid=ffffffffffffffff base=7f0000000000 "
     "libname=\"lib.so\"\n"},
};

static void test_round_trip(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct gt_text t = {0};
        struct gt_uftrace_task got;
        assert_int_equal(gt_uftrace_task_write(&t, &good[i].task, NULL), 0);
        assert_string_equal(t.data, good[i].line);
        memset(&got, 0x5a, sizeof got);
        assert_int_equal(gt_uftrace_task_read(t.data, t.len - 1, &got, NULL), 0);
        assert_memory_equal(&got, &good[i].task, sizeof got);
        gt_text_free(&t);
    }
}

static void test_every_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        size_t whole = strlen(good[i].line) - 1;
        for (size_t n = 0; n < whole; n++) {
            struct gt_uftrace_task got;
            char *exact = malloc(n ? n : 1);
            assert_non_null(exact);
            memcpy(exact, good[i].line, n);
            int status = gt_uftrace_task_read(exact, n, &got, NULL);
            /* A number at the end of a line cannot be told from its first digits. */
            bool number = n && exact[n - 1] >= '0' && exact[n - 1] <= '9';
            assert_true(status == GT_E_FORMAT ||
                        (number && got.kind == good[i].task.kind && n + 10 > whole));
            free(exact);
        }
    }
}

static void test_hostile(void **state)
{
    (void)state;
    static char longest[3000] = "SESS timestamp=1.000000000 pid=7 sid=00000000000000a1 exename=\"";
    static const char *const bad[] = {
        "",
        "\n",
        "SESS",
        "QUIT timestamp=1.000000000 tid=1 pid=1",
        "TASK timestamp=1.00000000 tid=1 pid=1",
        "TASK timestamp=1.0000000000 tid=1 pid=1",
        "TASK timestamp=99999999999999999999.000000000 tid=1 pid=1",
        "TASK timestamp=18446744073.999999999 tid=1 pid=1",
        "TASK timestamp=1.000000000 tid=0 pid=1",
        "TASK timestamp=1.000000000 tid=-1 pid=1",
        "TASK timestamp=1.000000000 tid=2147483648 pid=1",
        "TASK timestamp=1.000000000 pid=1",
        "TASK timestamp=1.000000000 tid=1 pid=1 ",
        "FORK timestamp=1.000000000 tid=1 pid=1",
        "SESS timestamp=1.000000000 pid=7 sid=0000000000000a1 exename=\"x\"",
        "SESS timestamp=1.000000000 pid=7 sid=00000000000000a11 exename=\"x\"",
        "SESS timestamp=1.000000000 pid=7 sid=000000000000000g exename=\"x\"",
        "SESS timestamp=1.000000000 pid=7 sid=00000000000000a1 exename=\"\"",
        "SESS timestamp=1.000000000 pid=7 sid=00000000000000a1 exename=\"x",
        "SESS timestamp=1.000000000 pid=7 sid=00000000000000a1 exename=x",
        "DLOP timestamp=1.000000000 tid=7 sid=00000000000000a1 base=xyz libname=\"x\"",
        ("DLOP timestamp=1.000000000 tid=7 sid=00000000000000a1 base=11111111111111111 "
         "libname=\"x\""),
    };
    struct gt_uftrace_task got;
    struct gt_error err = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(gt_uftrace_task_read(bad[i], strlen(bad[i]), &got, &err), GT_E_FORMAT);
        assert_non_null(strstr(err.text, "expected"));
    }
    size_t n = strlen(longest);
    memset(longest + n, 'x', 1023);
    longest[n + 1023] = '"';
    assert_int_equal(gt_uftrace_task_read(longest, n + 1024, &got, NULL), 0);
    memset(longest + n, 'x', 1024);
    longest[n + 1024] = '"';
    assert_int_equal(gt_uftrace_task_read(longest, n + 1025, &got, NULL), GT_E_FORMAT);
}

static void test_write_refuses(void **state)
{
    (void)state;
    struct gt_text t = {0};
    struct gt_uftrace_task task = good[0].task;
    task.sid[3] = 'x';
    assert_int_equal(gt_uftrace_task_write(&t, &task, NULL), GT_E_RANGE);
    task = good[1].task;
    task.tid = 0;
    assert_int_equal(gt_uftrace_task_write(&t, &task, NULL), GT_E_RANGE);
    task.tid = 1;
    task.pid = 0x80000000;
    assert_int_equal(gt_uftrace_task_write(&t, &task, NULL), GT_E_RANGE);
    assert_int_equal(t.len, 0);
    gt_text_free(&t);
}

static void test_paths(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"/bin/a", "/bin/a"},
        {"/a b/c\td\"e\\f\ng\x7f", "/a_b/c_d_e_f_g_"},
        {"/gr\xc3\xbcn/\xff\xc3", "/gr\xc3\xbcn/__"},
        {"[vdso]", "_vdso]"},
        {"/bin/", "/bin"},
        {"", "unknown"},
        {"/", "unknown"},
        {"///", "unknown"},
    };
    char out[GT_UFTRACE_PATH_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gt_uftrace_path(cases[i][0], out, sizeof out);
        assert_string_equal(out, cases[i][1]);
        gt_uftrace_path(out, out, sizeof out);
        assert_string_equal(out, cases[i][1]);
    }
    static char deep[6000], base[400] = "/";
    for (size_t i = 0; i + 1 < sizeof deep; i++)
        deep[i] = i % 10 ? 'd' : '/';
    strcpy(deep + sizeof deep - 10, "/the/name");
    gt_uftrace_path(deep, out, sizeof out);
    assert_int_equal(strlen(out), sizeof out - 1);
    assert_string_equal(out + strlen(out) - 9, "/the/name");
    memset(base + 1, 'b', 300);
    strcpy(base + 301, ".so");
    gt_uftrace_path(base, out, sizeof out);
    assert_int_equal(strlen(out), 241);
    assert_string_equal(out + 238, ".so");
    gt_uftrace_path("0123[bcdefghijklmno", out, 16); /* cut just before the bracket */
    assert_string_equal(out, "_bcdefghijklmno");
    gt_uftrace_path("/\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac/x", out, 16);
    assert_string_equal(out, "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac/x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_hostile),    cmocka_unit_test(test_write_refuses),
        cmocka_unit_test(test_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
