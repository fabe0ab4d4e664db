/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The log backend where lines cannot be written: they are counted, and what comes later is whole.
 */
#include "handmade.h"

#include <guesttrace/control.h>

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { BURST = 1000 };

static void log_to(const char *path)
{
    gt_trace_set_backends(GT_TRACE_LOG);
    assert_int_equal(gt_trace_log_set(path, NULL), GT_TRACE_OK);
    assert_int_equal(gt_trace_switch_all("hm_two", true, NULL), 1);
}

static void check_flush(unsigned long lost, const char *name, int why)
{
    struct gt_trace_error error = {0};
    char expected[300];
    snprintf(expected, sizeof expected, "%s: cannot be written, %lu lines are lost: %s", name, lost,
             strerror(why));
    assert_int_equal(gt_trace_log_flush(&error), lost ? GT_TRACE_E_IO : GT_TRACE_OK);
    assert_string_equal(error.text, lost ? expected : "");
    assert_int_equal(gt_trace_log_flush(NULL), GT_TRACE_OK); /* told once */
}

static void test_errors(void **state)
{
    (void)state;
    log_to("/dev/full");
    for (uint64_t i = 0; i < BURST; i++)
        trace_hm_two(0, i);
    check_flush(BURST, "/dev/full", ENOSPC);
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    int in = open("pipe", O_RDONLY | O_NONBLOCK);
    assert_true(in >= 0);
    log_to("pipe");
    close(in);
    for (uint64_t i = 0; i < BURST; i++)
        trace_hm_two(0, i);
    check_flush(BURST, "pipe", EPIPE);
    assert_int_equal(gt_trace_log_set("/no/such/file", NULL), GT_TRACE_E_NOT_FOUND);
    check_flush(0, NULL, 0);
    assert_int_equal(gt_trace_log_set(NULL, NULL), GT_TRACE_OK);
}

/* The file may not grow beyond half a line: what is written when it may again is a line of its own.
 */
static void test_full(void **state)
{
    (void)state;
    struct rlimit limit, old;
    char line[256];
    log_to("full");
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    limit = (struct rlimit){100, old.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    for (uint64_t i = 10; i < 90; i++)
        trace_hm_two(1, i); /* 16 bytes each */
    struct gt_trace_error error = {0};
    int status = gt_trace_log_flush(&error);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(status, GT_TRACE_E_IO);
    assert_non_null(strstr(error.text, "full: cannot be written, 74 lines are lost: "));
    trace_hm_two(2, 0);
    assert_int_equal(gt_trace_log_flush(NULL), GT_TRACE_OK);
    FILE *f = fopen("full", "r");
    for (int i = 0; i < 6; i++)
        assert_non_null(fgets(line, sizeof line, f));
    assert_string_equal(line, "hm_two a 1 b 15\n");
    assert_non_null(fgets(line, sizeof line, f));
    assert_string_equal(line, "hm_t\n");
    assert_non_null(fgets(line, sizeof line, f));
    assert_string_equal(line, "hm_two a 2 b 0\n");
    assert_null(fgets(line, sizeof line, f));
    fclose(f);
}

int main(void)
{
    char folder[] = "/tmp/events-log-errors-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_errors), cmocka_unit_test(test_full)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink("pipe");
    unlink("full");
    rmdir(folder);
    return failed;
}
