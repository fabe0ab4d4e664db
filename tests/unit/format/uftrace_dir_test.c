/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A directory under construction: what may be in the way, who owns which file. */
#include "recording/directory/dir.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char top[] = "/tmp/gt-dir-XXXXXX";
static char names[4][300];

static const char *in_top(int slot, const char *name)
{
    snprintf(names[slot], sizeof names[slot], "%s/%s", top, name);
    return names[slot];
}

static char *content(const char *name)
{
    char *data, path[300];
    size_t size;
    snprintf(path, sizeof path, "%s/%s", top, name);
    assert_int_equal(gt_file_read(path, 1 << 20, &data, &size, NULL), 0);
    return data;
}

static void expect_has(const char *name, const char *part)
{
    char *data = content(name);
    if (!strstr(data, part))
        fail_msg("%s lacks %s: %s", name, part, data);
    free(data);
}

static bool exists(const char *name)
{
    return access(in_top(3, name), F_OK) == 0;
}

static void make(const char *name, struct gt_uftrace_dir *d)
{
    assert_int_equal(gt_uftrace_dir_create(d, in_top(0, name), NULL), 0);
    assert_int_equal(gt_uftrace_dir_add_session(d, 1, 5, "00000000000000a1", "/bin/x", NULL), 0);
    assert_int_equal(gt_uftrace_dir_add_task(d, 1, 5, 5, NULL), 0);
    assert_int_equal(gt_uftrace_dir_put_map(d, "00000000000000a1", NULL, 0, NULL), 0);
    assert_int_equal(
        gt_uftrace_dir_put_info(d, &(struct gt_uftrace_info){.exename = "/bin/x"}, NULL), 0);
}

static void test_create_moves_aside(void **state)
{
    (void)state;
    struct gt_uftrace_dir d;
    make("t/", &d);
    assert_string_equal(d.path + strlen(d.path) - 2, "/t");
    assert_int_equal(gt_uftrace_dir_add_task(&d, 1, 6, 5, NULL), 0);
    make("t", &d);
    expect_has("t.old/task.txt", "tid=6");
    make("t", &d); /* the first t.old goes */
    char *data = content("t.old/task.txt");
    assert_null(strstr(data, "tid=6"));
    free(data);
    /* Killed before it had an info: still known for what it is. */
    assert_int_equal(unlink(in_top(1, "t/info")), 0);
    make("t", &d);
    assert_false(exists("t.old/info"));
}

static void test_create_refuses(void **state)
{
    (void)state;
    struct gt_uftrace_dir d;
    struct gt_error err = {0};
    assert_int_equal(gt_file_append(in_top(0, "file"), "Ftrace!", 8, NULL), 0);
    assert_int_equal(gt_uftrace_dir_create(&d, in_top(0, "file"), &err), GT_E_EXISTS);
    assert_non_null(strstr(err.text, "/file: "));
    assert_int_equal(gt_file_make_dir(in_top(0, "home"), NULL), 0);
    assert_int_equal(gt_uftrace_dir_create(&d, names[0], &err), 0); /* empty */
    assert_int_equal(gt_file_append(in_top(1, "home/letter"), "x", 1, NULL), 0);
    assert_int_equal(gt_uftrace_dir_create(&d, names[0], &err), GT_E_EXISTS);
    assert_true(exists("home/letter"));
    assert_int_equal(gt_file_append(in_top(1, "home/info"), "Texinfo", 8, NULL), 0);
    assert_int_equal(gt_file_append(in_top(1, "home/task.txt"), "SESS: buy milk", 14, NULL), 0);
    assert_int_equal(gt_uftrace_dir_create(&d, names[0], &err), GT_E_EXISTS);
    assert_int_equal(symlink("nowhere", in_top(0, "dangling")), 0);
    assert_int_equal(gt_uftrace_dir_create(&d, names[0], &err), GT_E_EXISTS);
    assert_int_equal(gt_uftrace_dir_create(&d, in_top(0, "no/such"), &err), GT_E_NOT_FOUND);
    assert_int_equal(gt_uftrace_dir_create(&d, "", &err), GT_E_USAGE);
    /* Somebody's PATH.old is not removed. */
    make("kept", &d);
    assert_int_equal(gt_file_make_dir(in_top(0, "kept.old"), NULL), 0);
    assert_int_equal(gt_file_append(in_top(1, "kept.old/letter"), "x", 1, NULL), 0);
    assert_int_equal(gt_uftrace_dir_create(&d, in_top(0, "kept"), &err), GT_E_EXISTS);
    assert_non_null(strstr(err.text, "kept.old is in the way and is not uftrace data"));
    assert_true(exists("kept.old/letter") && exists("kept/info"));
}

static void test_open(void **state)
{
    (void)state;
    struct gt_uftrace_dir d, again;
    make("opened", &d);
    assert_int_equal(gt_uftrace_dir_open(&again, in_top(0, "opened"), NULL), 0);
    assert_string_equal(d.path, again.path);
    assert_int_equal(gt_uftrace_dir_open(&again, in_top(0, "none"), NULL), GT_E_NOT_FOUND);
    assert_int_equal(gt_file_make_dir(in_top(0, "other"), NULL), 0);
    assert_int_equal(gt_file_append(in_top(1, "other/x"), "x", 1, NULL), 0);
    assert_int_equal(gt_uftrace_dir_open(&again, names[0], NULL), GT_E_FORMAT);
    /* A relative path stays good after a chdir. */
    char *was = getcwd(NULL, 0);
    assert_int_equal(chdir(top), 0);
    assert_int_equal(gt_uftrace_dir_create(&d, "relative", NULL), 0);
    assert_int_equal(chdir(was), 0);
    free(was);
    assert_int_equal(gt_uftrace_dir_add_task(&d, 1, 5, 5, NULL), 0);
    assert_true(exists("relative/task.txt"));
}

static void put(const struct gt_uftrace_dir *d, const char *path, const char *id, int want)
{
    char name[64];
    snprintf(name, sizeof name, "f_%s", path + strlen(path) - 3);
    for (char *p = name; *p; p++)
        if (*p == '/')
            *p = '_';
    struct gt_uftrace_symbol s = {0, 1, name, 'T'};
    struct gt_uftrace_module m = {path, id};
    assert_int_equal(gt_uftrace_dir_put_symbols(d, &m, &s, 1, NULL), want);
    if (!want)
        assert_int_equal(
            gt_uftrace_dir_put_debug(
                d, &m, &(struct gt_uftrace_dbg){GT_UFTRACE_DBG_FUNC, 0, 0, name}, 1, NULL),
            0);
}

static void test_symbol_files(void **state)
{
    (void)state;
    struct gt_uftrace_dir d;
    make("s", &d);
    put(&d, "/a/x", "aaaa00", 0);
    put(&d, "/a/x", "aaaa00", 0); /* again: the same file */
    put(&d, "/b/x", "bbbb00", 0);
    put(&d, "/a/x", "cccc00", 0); /* same path, another build */
    put(&d, "/c/x", NULL, 0);     /* '/' + 'c' + '/' + 'x' = 0x139 */
    put(&d, "/d/x", "bbbb11", GT_E_EXISTS);
    expect_has("s/x.sym", "# path name: /a/x\n# build-id: aaaa00\n");
    expect_has("s/x-bbbb.sym", "# path name: /b/x\n");
    expect_has("s/x-cccc.sym", "# build-id: cccc00\n");
    expect_has("s/x-0139.sym", "# path name: /c/x\n");
    expect_has("s/x-0139.dbg", "# path name: /c/x\n");
    expect_has("s/x.dbg", "# build-id: aaaa00\n");
}

static void test_events_and_stats(void **state)
{
    (void)state;
    struct gt_uftrace_dir d;
    make("e", &d);
    assert_int_equal(gt_uftrace_dir_add_event(&d, 1000000, "guesttrace:lost", NULL), 0);
    assert_int_equal(gt_uftrace_dir_add_event(&d, 1000000, "guesttrace:lost", NULL), 0);
    assert_int_equal(gt_uftrace_dir_add_event(&d, 1000001, "guesttrace:irq", NULL), 0);
    assert_int_equal(gt_uftrace_dir_add_event(&d, 999999, "a:b", NULL), GT_E_RANGE);
    assert_int_equal(gt_uftrace_dir_add_event(&d, 1000002, "nocolon", NULL), GT_E_RANGE);
    char *data = content("e/events.txt");
    assert_string_equal(data, "EVENT: 1000000 guesttrace:lost\nEVENT: 1000001 guesttrace:irq\n");
    free(data);
}

static void read_info(const char *name, struct gt_uftrace_info *info)
{
    char *data, path[300];
    size_t size;
    snprintf(path, sizeof path, "%s/%s/info", top, name);
    assert_int_equal(gt_file_read(path, 1 << 20, &data, &size, NULL), 0);
    assert_int_equal(gt_uftrace_info_read(data, size, info, NULL), 0);
    free(data);
}

static void test_info_lists_tasks(void **state)
{
    (void)state;
    struct gt_uftrace_dir d;
    struct gt_uftrace_info in = {.exename = "x", .max_stack = 2000}, out;
    const uint32_t want[] = {5, 7, 9};
    make("i", &d);
    assert_int_equal(gt_uftrace_dir_add_task(&d, 1, 9, 5, NULL), 0);
    assert_int_equal(gt_uftrace_dir_add_fork(&d, 1, 7, 5, NULL), 0);
    assert_int_equal(gt_uftrace_dir_add_task(&d, 2, 7, 7, NULL), 0); /* it executes something */
    assert_int_equal(gt_uftrace_dir_add_library(&d, 2, 7, "00000000000000a1", 0x1000, "l", NULL),
                     0);
    assert_int_equal(gt_uftrace_dir_put_info(&d, &in, NULL), 0);
    in.max_stack = 10; /* a child that was less deep */
    assert_int_equal(gt_uftrace_dir_put_info(&d, &in, NULL), 0);
    read_info("i", &out);
    assert_int_equal(out.n_tids, 3);
    assert_memory_equal(out.tids, want, sizeof want);
    assert_int_equal(out.max_stack, 2000);
    assert_false(out.feat_mask & GT_UFTRACE_FEAT_EVENT);
    gt_uftrace_info_free(&out);
    assert_int_equal(gt_uftrace_dir_add_event(&d, 1000000, "a:b", NULL), 0);
    assert_int_equal(gt_uftrace_dir_put_info(&d, &in, NULL), 0);
    read_info("i", &out);
    assert_true(out.feat_mask & GT_UFTRACE_FEAT_EVENT);
    gt_uftrace_info_free(&out);
    assert_int_equal(gt_file_append(in_top(1, "i/task.txt"), "rubbish\n", 8, NULL), 0);
    struct gt_error err = {0};
    assert_int_equal(gt_uftrace_dir_put_info(&d, &in, &err), GT_E_FORMAT);
    assert_non_null(strstr(err.text, "task.txt line 7"));
}

/* Forked children each add a task and write info: the last one lists all. */
static void test_info_of_many(void **state)
{
    (void)state;
    enum { CHILDREN = 8 };
    struct gt_uftrace_dir d;
    struct gt_uftrace_info in = {.exename = "x"}, out;
    make("m", &d);
    for (uint32_t i = 0; i < CHILDREN; i++) {
        pid_t pid = fork();
        assert_int_not_equal(pid, -1);
        if (pid == 0)
            _exit(gt_uftrace_dir_add_fork(&d, 2, 100 + i, 5, NULL) ||
                  gt_uftrace_dir_put_info(&d, &in, NULL));
    }
    for (int i = 0; i < CHILDREN; i++) {
        int status;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    read_info("m", &out);
    assert_int_equal(out.n_tids, CHILDREN + 1);
    gt_uftrace_info_free(&out);
}

/* 'R', 'S', ...: what the process does; 'Z' once it has ended. */
static char state_of(pid_t pid)
{
    char path[64], line[512] = "";
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    fclose(f);
    return strrchr(line, ')')[2];
}

/* While somebody holds the lock info is not read and replaced. */
static void test_info_waits(void **state)
{
    (void)state;
    struct gt_uftrace_dir d;
    struct gt_uftrace_info in = {.exename = "x"}, out;
    make("w", &d);
    int lock = open(d.path, O_RDONLY | O_DIRECTORY), status;
    assert_int_equal(flock(lock, LOCK_EX), 0);
    pid_t pid = fork();
    assert_int_not_equal(pid, -1);
    if (pid == 0)
        _exit(gt_uftrace_dir_put_info(&d, &in, NULL) != 0);
    while (!strchr("SZ", state_of(pid)))
        ;
    assert_int_equal(gt_uftrace_dir_add_task(&d, 1, 77, 5, NULL), 0);
    assert_int_equal(flock(lock, LOCK_UN), 0);
    close(lock);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    read_info("w", &out);
    assert_int_equal(out.n_tids, 2);
    gt_uftrace_info_free(&out);
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
        cmocka_unit_test(test_create_moves_aside),
        cmocka_unit_test(test_create_refuses),
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_symbol_files),
        cmocka_unit_test(test_events_and_stats),
        cmocka_unit_test(test_info_lists_tasks),
        cmocka_unit_test(test_info_of_many),
        cmocka_unit_test(test_info_waits),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
