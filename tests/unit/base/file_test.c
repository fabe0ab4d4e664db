/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text files written whole, and directories moved and removed. */
#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char top[] = "/tmp/gt-file-XXXXXX";
static char names[8][200];

static const char *in_top(int slot, const char *name)
{
    snprintf(names[slot], sizeof names[slot], "%s/%s", top, name);
    return names[slot];
}

static void expect_content(const char *path, const char *want)
{
    char *data;
    size_t size;
    assert_int_equal(gt_file_read(path, 1 << 20, &data, &size, NULL), 0);
    assert_int_equal(size, strlen(want));
    assert_string_equal(data, want);
    free(data);
}

static void test_text(void **state)
{
    (void)state;
    struct gt_text t = {0};
    char *want = calloc(1, 10001);
    assert_non_null(want);
    for (int i = 0; i < 1000; i++) {
        gt_text_printf(&t, "%05d", i);
        gt_text_add(&t, "abcde", 5);
        snprintf(want + 10 * i, 11, "%05dabcde", i);
    }
    gt_text_add(&t, "", 0);
    assert_false(t.failed);
    assert_int_equal(t.len, 10000);
    assert_string_equal(t.data, want);
    gt_text_add(&t, want, SIZE_MAX / 2);
    assert_true(t.failed);
    gt_text_add(&t, "x", 1);
    assert_int_equal(t.len, 10000);
    assert_int_equal(gt_file_replace_text(in_top(0, "never"), &t, NULL), GT_E_NOMEM);
    assert_int_equal(access(in_top(0, "never"), F_OK), -1);
    gt_text_free(&t);
    assert_null(t.data);
    free(want);
}

static int count_entries(void)
{
    char cmd[300], out[32] = "";
    snprintf(cmd, sizeof cmd, "ls -A '%s' | wc -l", top);
    FILE *p = popen(cmd, "r");
    assert_non_null(p);
    assert_non_null(fgets(out, sizeof out, p));
    pclose(p);
    return atoi(out);
}

static void test_replace(void **state)
{
    (void)state;
    const char *path = in_top(0, "replaced");
    struct gt_error err = {0};
    struct stat st;
    mode_t mask = umask(027);
    umask(mask);
    assert_int_equal(gt_file_replace(path, "one", 3, &err), 0);
    expect_content(path, "one");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0666 & ~mask);
    assert_int_equal(gt_file_replace(path, "", 0, &err), 0);
    expect_content(path, "");
    int before = count_entries();
    /* A directory in the way: the temporary file is removed again. */
    assert_int_equal(gt_file_make_dir(in_top(1, "d"), NULL), 0);
    assert_int_equal(gt_file_replace(in_top(1, "d"), "x", 1, &err), GT_E_IO);
    assert_non_null(strstr(err.text, "/d: "));
    assert_int_equal(count_entries(), before + 1);
    assert_int_equal(gt_file_replace(in_top(1, "no/such"), "x", 1, &err), GT_E_NOT_FOUND);
    assert_int_equal(err.status, GT_E_NOT_FOUND);
    static char longest[6000];
    memset(longest, 'x', sizeof longest - 1);
    assert_int_equal(gt_file_replace(longest, "x", 1, &err), GT_E_RANGE);
    /* The name of a temporary file that a killed process of our number left is not in the way. */
    char left[64];
    snprintf(left, sizeof left, ".replaced.%ld.0.tmp", (long)getpid());
    assert_int_equal(gt_file_append(in_top(2, left), "old", 3, NULL), 0);
    assert_int_equal(gt_file_replace(path, "two", 3, &err), 0);
    expect_content(path, "two");
    expect_content(in_top(2, left), "old");
}

static pid_t ended_process(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    return pid;
}

/* Beside a path: files and directories of files, of that name and of processes that have ended. */
static void test_remove_left_beside(void **state)
{
    (void)state;
    /* before and after the process's number; the first two are removed */
    static const char *const forms[][2] = {{"out/.x.", ".tmp"},  {"out/.x.", ".gone"},
                                           {"out/.x.", ".tmpy"}, {"out/.xy.", ".tmp"},
                                           {"out/x.", ".tmp"},   {"out/.x.1", "z.tmp"}};
    const long dead = (long)ended_process();
    char name[64], own[64];
    assert_int_equal(gt_file_make_dir(in_top(2, "out"), NULL), 0);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        snprintf(name, sizeof name, "%s%ld%s", forms[i][0], dead, forms[i][1]);
        if (i == 1) {
            assert_int_equal(gt_file_make_dir(in_top(0, name), NULL), 0);
            snprintf(name + strlen(name), sizeof name - strlen(name), "/inside");
        }
        assert_int_equal(gt_file_append(in_top(0, name), "x", 1, NULL), 0);
    }
    snprintf(own, sizeof own, "out/.x.%ld.tmp", (long)getpid());
    assert_int_equal(gt_file_append(in_top(0, own), "x", 1, NULL), 0);
    gt_file_remove_left_beside(in_top(1, "out/x"));
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        snprintf(name, sizeof name, "%s%ld%s", forms[i][0], dead, forms[i][1]);
        assert_int_equal(access(in_top(0, name), F_OK) == 0, i > 1);
    }
    assert_int_equal(access(in_top(0, own), F_OK), 0);
    assert_int_equal(gt_file_remove_dir(in_top(2, "out"), NULL), 0);
}

/* What a killed process has left goes; all else stays. */
static void test_remove_left(void **state)
{
    (void)state;
    /* before and after the process's number; NULL: there is none */
    static const char *const others[][2] = {{"tmp"},          {".tmp"},        {".a.tmp"},
                                            {".a.1.tmp"},     {".a.9x.0.tmp"}, {".a.0.0.tmp"},
                                            {"a.", ".0.tmp"}, {".", ".0.tmp"}, {".a.", ".0.tmp~"}};
    const size_t n = sizeof others / sizeof others[0];
    char left[64], name[64];
    const pid_t dead = ended_process();
    const char *dir = in_top(3, "left");
    assert_int_equal(gt_file_make_dir(dir, NULL), 0);
    snprintf(left, sizeof left, "left/.task.txt.%ld.12.tmp", (long)dead);
    assert_int_equal(gt_file_append(in_top(0, left), "half", 4, NULL), 0);
    for (size_t i = 0; i < n; i++) {
        if (others[i][1])
            snprintf(name, sizeof name, "left/%s%ld%s", others[i][0], (long)dead, others[i][1]);
        else
            snprintf(name, sizeof name, "left/%s", others[i][0]);
        assert_int_equal(gt_file_append(in_top(1, name), "x", 1, NULL), 0);
    }
    snprintf(name, sizeof name, "left/.b.%ld.0.tmp", (long)getpid());
    assert_int_equal(gt_file_append(in_top(1, name), "x", 1, NULL), 0);
    snprintf(name, sizeof name, "left/.c.%ld.0.tmp", (long)dead);
    assert_int_equal(gt_file_make_dir(in_top(1, name), NULL), 0);
    assert_int_equal(gt_file_remove_left(dir, NULL), 0);
    assert_int_not_equal(access(in_top(0, left), F_OK), 0);
    DIR *d = opendir(dir);
    size_t found = 0;
    for (const struct dirent *e; (e = readdir(d));)
        found += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    assert_int_equal(found, n + 2);
    assert_int_equal(rmdir(in_top(1, name)), 0);
    assert_int_equal(gt_file_remove_dir(dir, NULL), 0);
    struct gt_error err;
    assert_int_equal(gt_file_remove_left(in_top(1, "nowhere"), &err), GT_E_NOT_FOUND);
}

/* Several processes append; no line is torn or lost. */
static void test_append(void **state)
{
    (void)state;
    enum { PROCESSES = 4, LINES = 200 };
    const char *path = in_top(0, "appended");
    for (int p = 0; p < PROCESSES; p++) {
        pid_t pid = fork();
        assert_int_not_equal(pid, -1);
        if (pid == 0) {
            char line[100];
            int n = snprintf(line, sizeof line, "%d%060d\n", p, 0);
            for (int i = 0; i < LINES; i++)
                if (gt_file_append(path, line, (size_t)n, NULL))
                    _exit(1);
            _exit(0);
        }
    }
    for (int p = 0; p < PROCESSES; p++) {
        int status;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    char *data;
    size_t size;
    int count[PROCESSES] = {0};
    assert_int_equal(gt_file_read(path, 1 << 20, &data, &size, NULL), 0);
    assert_int_equal(size, PROCESSES * LINES * 62);
    for (size_t at = 0; at < size; at += 62) {
        assert_int_equal(data[at + 61], '\n');
        count[data[at] - '0']++;
    }
    for (int p = 0; p < PROCESSES; p++)
        assert_int_equal(count[p], LINES);
    free(data);
    assert_int_equal(gt_file_append(in_top(1, "no/such"), "x", 1, NULL), GT_E_NOT_FOUND);
}

static void test_read(void **state)
{
    (void)state;
    char *data;
    size_t size;
    struct gt_error err = {0};
    const char *path = in_top(0, "read");
    assert_int_equal(gt_file_replace(path, "12345", 5, NULL), 0);
    assert_int_equal(gt_file_read(path, 5, &data, &size, &err), 0);
    free(data);
    assert_int_equal(gt_file_read(path, 4, &data, &size, &err), GT_E_RANGE);
    assert_int_equal(gt_file_read(in_top(1, "none"), 4, &data, &size, &err), GT_E_NOT_FOUND);
    assert_int_equal(gt_file_read(top, 4, &data, &size, &err), GT_E_IO);
    assert_int_equal(gt_file_read("/dev/zero", 4, &data, &size, &err), GT_E_IO);
    assert_int_equal(mkfifo(in_top(1, "fifo"), 0600), 0);
    assert_int_equal(gt_file_read(in_top(1, "fifo"), 4, &data, &size, &err), GT_E_IO);
}

static void test_directories(void **state)
{
    (void)state;
    struct gt_error err = {0};
    const char *a = in_top(0, "a"), *b = in_top(1, "b");
    assert_int_equal(gt_file_make_dir(a, NULL), 0);
    assert_int_equal(gt_file_make_dir(a, &err), GT_E_EXISTS);
    assert_int_equal(gt_file_make_dir(in_top(2, "no/such"), &err), GT_E_NOT_FOUND);
    assert_int_equal(gt_file_append(in_top(2, "a/file"), "x", 1, NULL), 0);
    assert_int_equal(gt_file_append(in_top(3, "outside"), "x", 1, NULL), 0);
    assert_int_equal(symlink(names[3], in_top(4, "a/link")), 0);
    assert_int_equal(gt_file_make_dir(b, NULL), 0);
    assert_int_equal(gt_file_move_dir(a, b, NULL), 0); /* over an empty one */
    assert_int_equal(gt_file_make_dir(a, NULL), 0);
    assert_int_equal(gt_file_move_dir(a, b, &err), GT_E_EXISTS);
    assert_int_equal(gt_file_move_dir(in_top(5, "none"), a, &err), GT_E_NOT_FOUND);
    /* With a directory in it nothing is removed. */
    assert_int_equal(gt_file_make_dir(in_top(5, "b/sub"), NULL), 0);
    assert_int_equal(gt_file_remove_dir(b, &err), GT_E_EXISTS);
    assert_int_equal(access(in_top(6, "b/file"), F_OK), 0);
    assert_int_equal(rmdir(in_top(5, "b/sub")), 0);
    /* Nor through a symbolic link. */
    assert_int_equal(symlink(b, in_top(5, "to-b")), 0);
    assert_int_not_equal(gt_file_remove_dir(in_top(5, "to-b"), &err), 0);
    assert_int_equal(access(in_top(6, "b/file"), F_OK), 0);
    assert_int_equal(gt_file_remove_dir(b, &err), 0);
    assert_int_equal(access(b, F_OK), -1);
    assert_int_equal(access(names[3], F_OK), 0);
    assert_int_equal(gt_file_remove_dir(b, &err), GT_E_NOT_FOUND);
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(top) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char cmd[100];
    snprintf(cmd, sizeof cmd, "rm -rf '%s'", top);
    return system(cmd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_replace),
        cmocka_unit_test(test_append),
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_directories),
        cmocka_unit_test(test_remove_left),
        cmocka_unit_test(test_remove_left_beside),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
