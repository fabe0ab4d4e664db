/* SPDX-License-Identifier: GPL-2.0-or-later */
/* code.map, both directions. */
#include "recording/code_map/code_map.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct gt_recording_code_pattern pattern = {5, {0xf3, 0, 0x1e, 0xfa, 0x55}, {0x1d}};
static struct gt_recording_code_function functions[] = {
    {0x80000000, 0x20, 0x1111, "_start", true},
    {0x80000020, 0x8, 0, "short", false},
    {0x80000040, 0x40, 0x2222, "twice in one", true},
    {UINT64_C(0xffff800008010000), 0x100, UINT64_C(0xfedcba9876543210), "schedule", true},
    {UINT64_C(0xffff800008010200), 0xfe00, 0x2222, "\x01odd", true},
    {0x10, 5, 0, "init=module", false, &pattern},
    {0x20, 0x10, 0, "exit", false},
};
static struct gt_recording_code_module modules[] = {
    {0x80000000, 0x80000080, "/fw dir/fw.elf", 0, 3},
    {UINT64_C(0xffff800008010000), UINT64_C(0xffff800008020000), "/Image", 3, 2},
    {0, 0x1000, "/brd.ko", 5, 2},
};
static const struct gt_recording_code_map sample = {
    .os = {GT_CODE_SP_EL0, 0, 1464, 1176, 1180},
    .module = modules,
    .n_modules = 3,
    .function = functions,
    .n_functions = 7,
};
static const char text[] = "# guesttrace code: 1\n"
                           "# linux: current=sp_el0 comm=1464 pid=1176 tgid=1180\n"
                           "# module: 80000000 80000080 /fw_dir/fw.elf\n"
                           "80000000 20 0000000000001111 _start\n"
                           "80000020 8 - short\n"
                           "80000040 40 - twice in one\n"
                           "# module: ffff800008010000 ffff800008020000 /Image\n"
                           "ffff800008010000 100 fedcba9876543210 schedule\n"
                           "ffff800008010200 fe00 - ?odd\n"
                           "# module: 0 1000 /brd.ko\n"
                           "10 5 =f3..1efa55 init=module\n"
                           "20 10 - exit\n";

static void test_round_trip(void **state)
{
    (void)state;
    struct gt_text t = {0}, again = {0};
    struct gt_recording_code_map got;
    assert_int_equal(gt_recording_code_map_write(&t, &sample, NULL), 0);
    assert_string_equal(t.data, text);
    assert_int_equal(gt_recording_code_map_read(t.data, t.len, &got, NULL), 0);
    assert_memory_equal(&got.os, &sample.os, sizeof got.os);
    assert_int_equal(got.n_modules, 3);
    assert_int_equal(got.n_functions, 7);
    assert_string_equal(got.module[0].path, "/fw_dir/fw.elf");
    assert_true(got.module[1].start == modules[1].start && got.module[1].end == modules[1].end);
    assert_true(got.module[1].first == 3 && got.module[1].n == 2);
    assert_true(got.function[3].hashed && got.function[3].hash == functions[3].hash);
    assert_true(got.function[3].addr == functions[3].addr && got.function[3].size == 0x100);
    assert_false(got.function[1].hashed || got.function[2].hashed || got.function[4].hashed);
    assert_string_equal(got.function[2].name, "twice in one");
    assert_null(got.function[0].pattern);
    assert_false(got.function[5].hashed);
    assert_memory_equal(got.function[5].pattern, &pattern, sizeof pattern);
    assert_string_equal(got.function[5].name, "init=module");
    assert_int_equal(gt_recording_code_map_write(&again, &got, NULL), 0);
    assert_string_equal(again.data, text);
    gt_recording_code_map_free(&got);
    gt_text_free(&again);
    gt_text_free(&t);
}

static void test_current(void **state)
{
    (void)state;
    static const struct {
        struct gt_recording_code_linux os;
        const char *line;
    } cases[] = {
        {{GT_CODE_TP, 0, 1, 2, 3}, "# linux: current=tp comm=1 pid=2 tgid=3\n"},
        {{GT_CODE_GS, 0x1fbc0, 4, 5, UINT32_MAX},
         "# linux: current=gs:0x1fbc0 comm=4 pid=5 tgid=4294967295\n"},
        {{GT_CODE_GS, UINT64_C(0xffffffff83200000), 0, 0, 0},
         "# linux: current=gs:0xffffffff83200000 comm=0 pid=0 tgid=0\n"},
        {{0}, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct gt_recording_code_map map = {.os = cases[i].os};
        struct gt_recording_code_map got;
        struct gt_text t = {0};
        char want[128];
        snprintf(want, sizeof want, "# guesttrace code: 1\n%s", cases[i].line);
        assert_int_equal(gt_recording_code_map_write(&t, &map, NULL), 0);
        assert_string_equal(t.data, want);
        assert_int_equal(gt_recording_code_map_read(t.data, t.len, &got, NULL), 0);
        assert_memory_equal(&got.os, &map.os, sizeof got.os);
        gt_recording_code_map_free(&got);
        gt_text_free(&t);
    }
}

/* Known values of FNV-1a: of sixteen zero bytes and of "abcdefghijklmnop". */
static void test_hash(void **state)
{
    (void)state;
    static const uint8_t zero[GT_CODE_HASHED];
    static const uint8_t letters[GT_CODE_HASHED + 1] = "abcdefghijklmnop";
    assert_true(gt_recording_code_hash(zero) == UINT64_C(0x88201fb960ff6465));
    assert_true(gt_recording_code_hash(letters) == UINT64_C(0x7ef46f6c05086855));
}

static void test_every_cut(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof text; n++) {
        struct gt_recording_code_map got;
        char *exact = malloc(n ? n : 1);
        assert_non_null(exact);
        memcpy(exact, text, n);
        bool whole = n > 0 && text[n - 1] == '\n';
        assert_int_equal(gt_recording_code_map_read(exact, n, &got, NULL), whole ? 0 : GT_E_TRUNC);
        if (whole)
            gt_recording_code_map_free(&got);
        free(exact);
    }
}

static void test_refuses_to_write(void **state)
{
    (void)state;
    struct gt_recording_code_function two[] = {{0x1010, 4, 0, "a", false},
                                               {0x1020, 4, 0, "b", false}};
    struct gt_recording_code_module m = {0x1000, 0x1100, "/m", 0, 2};
    const struct gt_recording_code_map map = {
        .module = &m, .n_modules = 1, .function = two, .n_functions = 2};
    struct gt_text t = {0};
    struct gt_error err = {0};
#define REFUSED(change, undo)                                                                      \
    change;                                                                                        \
    assert_int_equal(gt_recording_code_map_write(&t, &map, &err), GT_E_USAGE);                     \
    assert_non_null(strstr(err.text, "/m"));                                                       \
    assert_int_equal(t.len, 0);                                                                    \
    undo
    REFUSED(two[1].addr = 0x1010, two[1].addr = 0x1020);
    REFUSED(two[1].addr = 0x100f, two[1].addr = 0x1020);
    REFUSED(two[0].addr = 0xfff, two[0].addr = 0x1010);
    REFUSED(two[1].addr = 0x1100, two[1].addr = 0x1020);
    REFUSED(two[1].size = 0xe1, two[1].size = 4);
    REFUSED(two[1].size = 0, two[1].size = 4);
    struct gt_recording_code_pattern long_one = {.n = 5};
    REFUSED(two[1].pattern = &long_one, long_one.n = 4);
    REFUSED(long_one.n = 0, two[1].pattern = NULL);
    REFUSED(m.end = 0x1000, m.end = 0x1100);
    REFUSED(m.n = 3, m.n = 2);
    REFUSED(m.first = 3, m.first = 0);
    REFUSED(m.first = SIZE_MAX, m.first = 0);
    assert_int_equal(gt_recording_code_map_write(&t, &map, &err), 0);
    gt_text_free(&t);
}

static void test_hostile(void **state)
{
    (void)state;
    static const struct {
        const char *line; /* after a head and a module of 1000 to 2000 with one function */
        const char *expected;
    } bad[] = {
        {"# module: 2000 2000 /a\n", "a range"},
        {"# module: 2000 1fff /a\n", "a range"},
        {"# module: 2000 /a\n", "a range"},
        {"# module: 2000 3000\n", "a path"},
        {"# module: 2000 3000 \n", "a path"},
        {"# module: 2000 3000 /a b\n", "a path"},
        {"# module: 11111111111111111 3000 /a\n", "a range"},
        {"# linux: current=tp comm=1 pid=2 tgid=3\n", "before the modules"},
        {"# else\n", "an address"},
        {"\n", "an address"},
        {"fff 1 - a\n", "an address in"},
        {"2000 1 - a\n", "an address in"},
        {"1000 1 - a\n", "above the one before"},
        {"1010 ff1 - a\n", "a size"},
        {"1010 0 - a\n", "a size"},
        {"1010 1 -- a\n", "a name"},
        {"1010 1 - \n", "a name"},
        {"1010 1 -\n", "a name"},
        {"1010 1\n", "a hash"},
        {"1010 1 xyz a\n", "a hash"},
        {"1010 1 11111111111111111 a\n", "a hash"},
        {"1010 1 = a\n", "a pattern"},
        {"1010 1 =0 a\n", "a pattern"},
        {"1010 2 =0.1 a\n", "a pattern"},
        {"1010 1 =0000 a\n", "a pattern"},
        {"1010 1 =0x a\n", "a pattern"},
        {"1010 1 =..\n", "a pattern"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct gt_recording_code_map got;
        struct gt_error err = {0};
        char all[256];
        int n =
            snprintf(all, sizeof all,
                     "# guesttrace code: 1\n# module: 1000 2000 /m\n1000 8 - x\n%s", bad[i].line);
        assert_int_equal(gt_recording_code_map_read(all, (size_t)n, &got, &err), GT_E_FORMAT);
        assert_non_null(strstr(err.text, "line 4"));
        assert_non_null(strstr(err.text, bad[i].expected));
    }
}

static void test_hostile_head(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int status;
        const char *expected;
    } bad[] = {
        {"\n", GT_E_FORMAT, "line 1"},
        {"# guesttrace code: one\n", GT_E_FORMAT, "line 1"},
        {"# guesttrace code: 1 \n", GT_E_FORMAT, "line 1"},
        {"# guesttrace code: 2\n", GT_E_UNSUPPORTED, "version 2"},
        {"# guesttrace code: 1\n1000 1 - a\n", GT_E_FORMAT, "a module before"},
        {"# guesttrace code: 1\n# linux: current=x0 comm=1 pid=2 tgid=3\n", GT_E_FORMAT, "sp_el0"},
        {"# guesttrace code: 1\n# linux: current=gs:0x comm=1 pid=2 tgid=3\n", GT_E_FORMAT, "gs:"},
        {"# guesttrace code: 1\n# linux: current=tp comm=1 pid=2\n", GT_E_FORMAT, "tgid"},
        {"# guesttrace code: 1\n# linux: current=tp comm=4294967296 pid=2 tgid=3\n", GT_E_FORMAT,
         "comm="},
        {"# guesttrace code: 1\n# linux: current=tp comm=1 pid=2 tgid=3 x\n", GT_E_FORMAT, "tgid"},
        {"# guesttrace code: 1\n# linux: current=tp comm=1 pid=2 tgid=3\n"
         "# linux: current=tp comm=1 pid=2 tgid=3\n",
         GT_E_FORMAT, "line 3"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct gt_recording_code_map got;
        struct gt_error err = {0};
        assert_int_equal(gt_recording_code_map_read(bad[i].text, strlen(bad[i].text), &got, &err),
                         bad[i].status);
        assert_non_null(strstr(err.text, bad[i].expected));
    }
    static const char zero[] = "# guesttrace code: 1\n# module: 1 2 /a\0b\n";
    struct gt_recording_code_map got;
    assert_int_equal(gt_recording_code_map_read(zero, sizeof zero - 1, &got, NULL), GT_E_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),   cmocka_unit_test(test_current),
        cmocka_unit_test(test_hash),         cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_hostile),      cmocka_unit_test(test_refuses_to_write),
        cmocka_unit_test(test_hostile_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
