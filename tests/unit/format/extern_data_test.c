/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of extern.dat: form, order, what is in the file already. */
#include "base/file.h"
#include "recording/texts/extern_data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/guesttrace-extern-XXXXXX", path[100];

static int begin(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/" GT_EXTERN_FILE, folder);
    return 0;
}

static int end(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void add(const char *lines)
{
    struct gt_text text = {0};
    gt_text_add(&text, lines, strlen(lines));
    assert_int_equal(gt_recording_extern_add(path, &text, NULL), 0);
    gt_text_free(&text);
}

static void is_now(const char *want)
{
    char *data;
    size_t size;
    assert_int_equal(gt_file_read(path, 1 << 20, &data, &size, NULL), 0);
    assert_string_equal(data, want);
    free(data);
}

static void test_line(void **state)
{
    struct gt_text text = {0};
    (void)state;
    gt_recording_extern_put(&text, UINT64_C(12000000034), "a\nb\x80 c");
    assert_string_equal(text.data, "12.000000034 a?b? c\n");
    gt_text_free(&text);
}

static void test_order(void **state)
{
    (void)state;
    add("2.000000001 b\n1.000000000 a\n10.000000000 d\n");
    is_now("1.000000000 a\n2.000000001 b\n10.000000000 d\n");
    add("2.000000001 c\n1.2 no end");
    add("1.100000000 e\n");
    is_now(
        "1.000000000 a\n1.100000000 e\n1.2 no end\n2.000000001 b\n2.000000001 c\n10.000000000 d\n");
    add("");
    is_now(
        "1.000000000 a\n1.100000000 e\n1.2 no end\n2.000000001 b\n2.000000001 c\n10.000000000 d\n");
}

static void test_errors(void **state)
{
    struct gt_error err;
    struct gt_text text = {0};
    (void)state;
    gt_text_add(&text, "1.0 x\n", 6);
    assert_int_equal(gt_recording_extern_add("/nowhere/extern.dat", &text, &err), GT_E_NOT_FOUND);
    assert_non_null(strstr(err.text, "/nowhere"));
    assert_int_equal(gt_recording_extern_add(folder, &text, &err), GT_E_IO);
    gt_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_line), cmocka_unit_test(test_order),
                                       cmocka_unit_test(test_errors)};
    return cmocka_run_group_tests(tests, begin, end);
}
