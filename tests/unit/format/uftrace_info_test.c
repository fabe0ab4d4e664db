/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The info file: round trip, every cut, what readers could not hold. */
#include "recording/directory/uftrace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint32_t tids[] = {3, 1, 2147483647};

static struct gt_uftrace_info full(void)
{
    return (struct gt_uftrace_info){
        .feat_mask = GT_UFTRACE_FEAT_EVENT,
        .max_stack = 1024,
        .exename = "/bin/true",
        .build_id = "0123456789abcdef0123456789abcdef01234567",
        .has_exit_status = true,
        .exit_status = -9,
        .cmdline = "a \"b\"\n\\ \x01 gr\xc3\xbcn",
        .cpus_online = 2,
        .cpus_possible = 4,
        .cpu_desc = "ARM64",
        .meminfo = "1 / 2 GB",
        .os_kernel = "Linux 6",
        .os_hostname = "",
        .os_distro = "\"x\"",
        .tids = tids,
        .n_tids = 3,
        .loadinfo = "0 / 0 / 0",
        .argspec = "auto-args:1\nmain@arg1",
        .record_date = "today",
        .elapsed_time = 1.25,
        .pattern_type = "regex",
        .version = "test",
        .has_utc_offset = true,
        .utc_offset = -3600,
    };
}

static void test_round_trip(void **state)
{
    (void)state;
    struct gt_uftrace_info in = full(), out;
    struct gt_text t = {0};
    assert_int_equal(gt_uftrace_info_write(&t, &in, NULL), 0);
    memset(&out, 0x5a, sizeof out);
    assert_int_equal(gt_uftrace_info_read(t.data, t.len, &out, NULL), 0);
    assert_int_equal(out.feat_mask, GT_UFTRACE_FEAT_EVENT | GT_UFTRACE_FEAT_MIN);
    assert_int_equal(out.max_stack, 1024);
    assert_string_equal(out.exename, in.exename);
    assert_string_equal(out.build_id, in.build_id);
    assert_true(out.has_exit_status);
    assert_int_equal(out.exit_status, -9);
    assert_string_equal(out.cmdline, in.cmdline);
    assert_int_equal(out.cpus_online, 2);
    assert_int_equal(out.cpus_possible, 4);
    assert_string_equal(out.cpu_desc, "ARM64");
    assert_string_equal(out.meminfo, in.meminfo);
    assert_string_equal(out.os_kernel, in.os_kernel);
    assert_string_equal(out.os_hostname, "");
    assert_string_equal(out.os_distro, in.os_distro);
    assert_int_equal(out.n_tids, 3);
    assert_memory_equal(out.tids, tids, sizeof tids);
    assert_string_equal(out.loadinfo, in.loadinfo);
    assert_string_equal(out.argspec, in.argspec);
    assert_string_equal(out.record_date, "today");
    assert_true(out.elapsed_time > 1.2499 && out.elapsed_time < 1.2501);
    assert_string_equal(out.pattern_type, "regex");
    assert_string_equal(out.version, "test");
    assert_true(out.has_utc_offset && out.utc_offset == -3600);
    gt_uftrace_info_free(&out);
    gt_text_free(&t);
}

static void test_every_cut(void **state)
{
    (void)state;
    struct gt_uftrace_info in = full(), out;
    struct gt_text t = {0};
    assert_int_equal(gt_uftrace_info_write(&t, &in, NULL), 0);
    for (size_t n = 0; n < t.len; n++) {
        char *exact = malloc(n ? n : 1);
        assert_non_null(exact);
        memcpy(exact, t.data, n);
        assert_int_equal(gt_uftrace_info_read(exact, n, &out, NULL), GT_E_TRUNC);
        free(exact);
    }
    gt_text_add(&t, "x\n", 2);
    assert_int_equal(gt_uftrace_info_read(t.data, t.len, &out, NULL), GT_E_FORMAT);
    gt_text_free(&t);
}

static void test_least(void **state)
{
    (void)state;
    struct gt_uftrace_info in = {.exename = "a b"}, out;
    struct gt_text t = {0};
    assert_int_equal(gt_uftrace_info_write(&t, &in, NULL), 0);
    assert_memory_equal(t.data, "Ftrace!\0\4\0\0\0\x28\0\1\2\x62\0\0\0\0\0\0\0", 24);
    assert_int_equal(gt_uftrace_info_read(t.data, t.len, &out, NULL), 0);
    assert_string_equal(out.exename, "a_b");
    assert_string_equal(out.cmdline, "a b");
    assert_int_equal(out.max_stack, 1024);
    assert_null(out.build_id);
    assert_null(out.record_date);
    assert_int_equal(out.n_tids, 0);
    assert_false(out.has_exit_status || out.has_utc_offset);
    assert_int_equal(out.cpus_possible, 0);
    gt_uftrace_info_free(&out);
    gt_text_free(&t);
}

static void test_long_lines(void **state)
{
    (void)state;
    static char quotes[9000];
    memset(quotes, '"', sizeof quotes - 1);
    static char wide[9001];
    for (size_t i = 0; i < 9000; i += 3)
        memcpy(wide + i, "\xe2\x82\xac", 3);
    const char *const lines[] = {quotes, wide};
    for (size_t i = 0; i < 2; i++) {
        struct gt_uftrace_info in = {.exename = "x", .cmdline = lines[i], .meminfo = lines[i]}, out;
        struct gt_text t = {0};
        size_t longest = 0, at = 40;
        assert_int_equal(gt_uftrace_info_write(&t, &in, NULL), 0);
        for (size_t k = 40; k < t.len; k++)
            if (t.data[k] == '\n') {
                longest = k + 1 - at > longest ? k + 1 - at : longest;
                at = k + 1;
            }
        assert_in_range(longest, 4000, 4095);
        assert_int_equal(gt_uftrace_info_read(t.data, t.len, &out, NULL), 0);
        assert_string_equal(out.cmdline + strlen(out.cmdline) - 3, "...");
        if (i == 1) /* not cut inside a character */
            assert_int_equal((strlen(out.cmdline) - 3) % 3, 0);
        gt_uftrace_info_free(&out);
        gt_text_free(&t);
    }
}

static void test_refuses(void **state)
{
    (void)state;
    struct gt_text t = {0};
    struct gt_uftrace_info info = {0};
    const uint32_t zero = 0;
    assert_int_equal(gt_uftrace_info_write(&t, &info, NULL), GT_E_USAGE);
    info = (struct gt_uftrace_info){.exename = "x", .tids = &zero, .n_tids = 1};
    assert_int_equal(gt_uftrace_info_write(&t, &info, NULL), GT_E_RANGE);
    gt_text_free(&t);
}

/* A valid info whose text is replaced: exename and taskinfo are announced. */
static int read_text(uint64_t mask, const char *text)
{
    uint8_t data[512];
    struct gt_bytes_writer w;
    struct gt_uftrace_info out;
    gt_bytes_writer_init(&w, data, sizeof data);
    gt_bytes_write_bytes(&w, "Ftrace!\0\4\0\0\0\x28\0\1\2\x62\0\0\0\0\0\0\0", 24);
    gt_bytes_write_u64(&w, mask);
    gt_bytes_write_u64(&w, 1024);
    gt_bytes_write_bytes(&w, text, strlen(text));
    int status = gt_uftrace_info_read(data, (size_t)(w.at - data), &out, NULL);
    if (!status)
        gt_uftrace_info_free(&out);
    return status;
}

static void test_hostile(void **state)
{
    (void)state;
    enum { TASKINFO = 1 << 7, ARGSPEC = 1 << 10, USAGE = 1 << 8 };
    assert_int_equal(
        read_text(TASKINFO, "taskinfo:lines=2\ntaskinfo:nr_tid=2\ntaskinfo:tids=1,2\n"), 0);
    assert_int_equal(
        read_text(TASKINFO, "taskinfo:lines=2\ntaskinfo:nr_tid=3\ntaskinfo:tids=1,2\n"),
        GT_E_FORMAT);
    assert_int_equal(
        read_text(TASKINFO, "taskinfo:lines=2\ntaskinfo:nr_tid=1\ntaskinfo:tids=1,2\n"),
        GT_E_FORMAT);
    assert_int_equal(
        read_text(TASKINFO, "taskinfo:lines=2\ntaskinfo:nr_tid=99999999999999\ntaskinfo:tids=1\n"),
        GT_E_FORMAT);
    assert_int_equal(read_text(TASKINFO, "taskinfo:lines=2\ntaskinfo:nr_tid=1\ntaskinfo:tids=-1\n"),
                     GT_E_FORMAT);
    assert_int_equal(read_text(ARGSPEC, "argspec:lines=0\n"), 0);
    assert_int_equal(read_text(ARGSPEC, "argspec:lines=2\n\n\n"), 0);
    assert_int_equal(read_text(ARGSPEC, "argspec:lines=3\n\n\n"), GT_E_TRUNC);
    assert_int_equal(read_text(USAGE, "usageinfo:lines=2\nusageinfo:a=1\nusageinfo:b=2\n"), 0);
    assert_int_equal(read_text(1, "cmdline:x\n"), GT_E_FORMAT);
    assert_int_equal(read_text(0, ""), 0);
    assert_int_equal(read_text(UINT64_C(1) << 15, ""), GT_E_FORMAT);
    assert_int_equal(read_text(8, "cmdline:\\\n"), 0);
    assert_int_equal(read_text(8, "cmdline:\\u00\n"), 0);
}

static void test_header(void **state)
{
    (void)state;
    struct gt_uftrace_info in = {.exename = "x"}, out;
    struct gt_text t = {0};
    const struct {
        size_t at;
        char value;
        int status;
    } bad[] = {{0, 'f', GT_E_FORMAT},        {8, 3, GT_E_UNSUPPORTED}, {14, 2, GT_E_UNSUPPORTED},
               {15, 3, GT_E_UNSUPPORTED},    {12, 41, GT_E_FORMAT},    {27, 1, GT_E_FORMAT + 0},
               {15, 1, 0 /* 32-bit guest */}};
    assert_int_equal(gt_uftrace_info_write(&t, &in, NULL), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char was = t.data[bad[i].at];
        t.data[bad[i].at] = bad[i].value;
        int status = gt_uftrace_info_read(t.data, t.len, &out, NULL);
        assert_int_equal(status, bad[i].status);
        if (!status)
            gt_uftrace_info_free(&out);
        t.data[bad[i].at] = was;
    }
    gt_text_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_least),      cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_refuses),    cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
