/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Repair: a stream cut at every byte becomes whole, twice changes nothing, hostile files are left.
 */
#include "recording/directory/dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char top[] = "/tmp/gt-repair-XXXXXX";
static struct gt_uftrace_dir dir;
static uint64_t words[64];
static size_t n_words;

static const char *in_dir(const char *name)
{
    static char path[5000];
    snprintf(path, sizeof path, "%s/%s", dir.path, name);
    return path;
}

static void add(uint64_t time, uint64_t word)
{
    words[n_words++] = time;
    words[n_words++] = word;
}

static int fresh(void **state)
{
    (void)state;
    char path[64];
    static int count;
    snprintf(path, sizeof path, "%s/%d", top, count++);
    n_words = 0;
    return gt_uftrace_dir_create(&dir, path, NULL) ||
           gt_uftrace_dir_add_session(&dir, 1, 5, "00000000000000a1", "/bin/x", NULL) ||
           gt_uftrace_dir_add_task(&dir, 1, 5, 5, NULL) ||
           gt_uftrace_dir_put_map(&dir, "00000000000000a1", NULL, 0, NULL) ||
           gt_uftrace_dir_put_info(&dir, &(struct gt_uftrace_info){.exename = "/bin/x"}, NULL);
}

/* Every record of the task, after checking that all is closed. */
static size_t read_all(uint32_t tid, struct gt_uftrace_record *out, size_t max)
{
    struct gt_uftrace_dat *dat;
    size_t n = 0, depth = 0;
    uint64_t stack[64] = {0};
    int status;
    assert_int_equal(gt_uftrace_dat_open(dir.path, tid, &dat, NULL), 0);
    while ((status = gt_uftrace_dat_next(dat, &out[n], NULL)) == 1) {
        const struct gt_uftrace_record *r = &out[n];
        assert_true(n == 0 || r->time >= r[-1].time);
        if (r->type == GT_UFTRACE_ENTRY)
            stack[depth++] = r->addr;
        if (r->type == GT_UFTRACE_EXIT) {
            assert_true(depth > 0 && stack[--depth] == r->addr);
            assert_int_equal(r->depth, depth);
        }
        assert_true(++n < max);
    }
    assert_int_equal(status, 0);
    assert_int_equal(depth, 0);
    gt_uftrace_dat_close(dat);
    return n;
}

static void repair_twice(const struct gt_uftrace_repair_options *opt,
                         struct gt_uftrace_repair_stats *first)
{
    static const char *const files[] = {"5.dat", "info", "task.txt"};
    struct gt_uftrace_repair_stats again;
    struct gt_error err = {0};
    char *was[3], *is;
    size_t size[3], n;
    if (gt_uftrace_dir_repair(dir.path, opt, first, &err))
        fail_msg("%s", err.text);
    for (int i = 0; i < 3; i++)
        assert_int_equal(gt_file_read(in_dir(files[i]), 1 << 20, &was[i], &size[i], NULL), 0);
    assert_int_equal(gt_uftrace_dir_repair(dir.path, opt, &again, &err), 0);
    assert_int_equal(
        again.cut + again.closed + again.events + again.lines_dropped + again.lines_added, 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(gt_file_read(in_dir(files[i]), 1 << 20, &is, &n, NULL), 0);
        assert_int_equal(n, size[i]);
        assert_memory_equal(is, was[i], n);
        free(is);
        free(was[i]);
    }
}

static void test_every_cut(void **state)
{
    (void)state;
    add(5, gt_uftrace_entry(0, 0x10));
    add(6, gt_uftrace_entry(1, 0x20));
    add(7, gt_uftrace_event(0, GT_UFTRACE_EV_SCHED_OUT));
    add(8, gt_uftrace_event(0, GT_UFTRACE_EV_SCHED_IN));
    add(8, gt_uftrace_exit(1, 0x20));
    add(9, gt_uftrace_exit(0, 0x10));
    const size_t closed[] = {0, 1, 2, 2, 2, 1, 0};
    for (size_t n = 0; n <= n_words * 8; n++) {
        struct gt_uftrace_record rec[16];
        struct gt_uftrace_repair_stats s;
        size_t whole = n / 16;
        assert_int_equal(gt_file_replace(in_dir("5.dat"), words, n, NULL), 0);
        repair_twice(NULL, &s);
        assert_int_equal(s.records, whole);
        assert_int_equal(s.cut, n % 16);
        assert_int_equal(s.closed, closed[whole]);
        assert_int_equal(read_all(5, rec, 16), whole + closed[whole] + (whole == 3));
        if (whole == 3)
            assert_int_equal(rec[3].addr, GT_UFTRACE_EV_SCHED_IN);
    }
}

/* Values of calls between records, of which some look like records. What is cut in the middle of
 * them goes with its record. */
static void test_values(void **state)
{
    (void)state;
    enum { MORE = 4, FIRST = 48, SECOND = 64, THIRD = 80, ALL = 112 };
    add(0x1a3e9, gt_uftrace_entry(0, 0x10) | MORE);
    add(0x18, 0x7461687420740013);
    add(0x6c20612073616820, 0x6874676e65); /* with the next time: LOST */
    add(0x1a3ee, gt_uftrace_entry(1, 0x20));
    add(0x1a3fb, gt_uftrace_exit(1, 0x20));
    add(0x1a3fe, gt_uftrace_exit(0, 0x10) | MORE);
    add(0x2b, 0x2c);
    for (size_t n = 0; n <= n_words * 8; n++) {
        struct gt_uftrace_record rec[16];
        struct gt_uftrace_repair_stats s;
        assert_int_equal(gt_file_replace(in_dir("5.dat"), words, n, NULL), 0);
        repair_twice(NULL, &s);
        read_all(5, rec, 16);
        if (n == ALL)
            assert_true(s.records == 4 && s.closed == 0 && s.cut == 0);
        else if (n >= SECOND)
            assert_int_equal(s.records, n < THIRD ? 2 : n == ALL - 8 ? 4 : 3);
        else
            assert_true(s.records <= 1 && s.closed == s.records && n - s.cut <= FIRST + 8);
    }
}

static void test_lost_event(void **state)
{
    (void)state;
    struct gt_uftrace_record rec[16];
    struct gt_uftrace_repair_stats s;
    const struct gt_uftrace_lost lost[] = {{4, 1}, {5, 99}};
    const struct gt_uftrace_repair_options opt = {.lost = lost, .n_lost = 2};
    add(5, gt_uftrace_entry(0, 0x10));
    add(6, gt_uftrace_entry(1, 0x20));
    assert_int_equal(gt_file_replace(in_dir("5.dat"), words, n_words * 8, NULL), 0);
    repair_twice(&opt, &s);
    assert_int_equal(s.events, 1);
    assert_int_equal(read_all(5, rec, 16), 5);
    assert_int_equal(rec[2].type, GT_UFTRACE_EVENT);
    assert_int_equal(rec[2].addr, GT_UFTRACE_EV_LOST);
    char *text;
    size_t size;
    struct gt_uftrace_info info;
    assert_int_equal(gt_file_read(in_dir("events.txt"), 1000, &text, &size, NULL), 0);
    assert_string_equal(text, "EVENT: 1000000 guesttrace:lost\n");
    free(text);
    assert_int_equal(gt_file_read(in_dir("info"), 10000, &text, &size, NULL), 0);
    assert_int_equal(gt_uftrace_info_read(text, size, &info, NULL), 0);
    assert_true(info.feat_mask & GT_UFTRACE_FEAT_EVENT);
    gt_uftrace_info_free(&info);
    free(text);
}

/* One bad file is named with its offset and left; the other one is repaired. */
static void test_hostile_file(void **state)
{
    (void)state;
    struct gt_uftrace_repair_stats s;
    struct gt_error err = {0};
    struct gt_uftrace_record rec[8];
    add(5, gt_uftrace_entry(0, 0x10));
    assert_int_equal(gt_uftrace_dir_add_task(&dir, 1, 4, 5, NULL), 0);
    assert_int_equal(gt_file_replace(in_dir("5.dat"), words, 16, NULL), 0);
    add(4, gt_uftrace_exit(0, 0x10)); /* time falls */
    assert_int_equal(gt_file_replace(in_dir("4.dat"), words, 32, NULL), 0);
    assert_int_equal(gt_uftrace_dir_add_task(&dir, 1, 6, 5, NULL), 0);
    assert_int_equal(gt_file_replace(in_dir("6.dat"), words + 2, 16, NULL), 0); /* only an EXIT */
    assert_int_equal(gt_uftrace_dir_repair(dir.path, NULL, &s, &err), GT_E_FORMAT);
    assert_non_null(strstr(err.text, "4.dat offset 16"));
    assert_int_equal(s.closed, 1);
    assert_int_equal(read_all(5, rec, 8), 2);
    char *text;
    size_t size;
    assert_int_equal(gt_file_read(in_dir("4.dat"), 1000, &text, &size, NULL), 0);
    assert_int_equal(size, 32);
    free(text);
}

static void test_text_files(void **state)
{
    (void)state;
    struct gt_uftrace_repair_stats s;
    struct gt_uftrace_info info;
    char *text;
    size_t size;
    add(7, gt_uftrace_entry(0, 0x10));
    add(7, gt_uftrace_exit(0, 0x10));
    assert_int_equal(gt_file_replace(in_dir("5.dat"), words, 32, NULL), 0);
    assert_int_equal(gt_file_replace(in_dir("8.dat"), words, 32, NULL), 0);
    assert_int_equal(gt_file_append(in_dir("task.txt"), "nonsense\nTASK timest", 20, NULL), 0);
    assert_int_equal(unlink(in_dir("info")), 0);
    assert_int_equal(unlink(in_dir("sid-00000000000000a1.map")), 0);
    repair_twice(NULL, &s);
    assert_int_equal(s.lines_dropped, 2);
    assert_int_equal(s.lines_added, 1);
    assert_int_equal(gt_file_read(in_dir("task.txt"), 10000, &text, &size, NULL), 0);
    assert_string_equal(text,
                        "SESS timestamp=0.000000001 pid=5 sid=00000000000000a1 exename=\"/bin/x\"\n"
                        "TASK timestamp=0.000000001 tid=5 pid=5\n"
                        "TASK timestamp=0.000000007 tid=8 pid=5\n");
    free(text);
    assert_int_equal(access(in_dir("sid-00000000000000a1.map"), F_OK), 0);
    assert_int_equal(gt_file_read(in_dir("info"), 10000, &text, &size, NULL), 0);
    assert_int_equal(gt_uftrace_info_read(text, size, &info, NULL), 0);
    assert_string_equal(info.exename, "/bin/x");
    assert_int_equal(info.n_tids, 2);
    gt_uftrace_info_free(&info);
    free(text);
    assert_int_equal(gt_file_replace(in_dir("task.txt"), "", 0, NULL), 0);
    repair_twice(NULL, &s);
    assert_int_equal(s.lines_added, 3);
    assert_int_equal(gt_uftrace_dir_repair("/nonexistent", NULL, NULL, NULL), GT_E_NOT_FOUND);
}

static void keep_report(void *self, const char *file, const char *what)
{
    snprintf(self, 200, "%s: %s", file, what);
}

/* Nothing of the file can be read: the map alone says whose symbols it has. (With ASan: the
 * module's path and build-id live as long as they are used.) */
static void test_unreadable_symbols(void **state)
{
    (void)state;
    char said[200] = "", *text;
    size_t size;
    struct gt_uftrace_symtab tab;
    const struct gt_uftrace_mapping line = {.start = 0x1000, .end = 0x2000, .path = "/bin/x"};
    const struct gt_uftrace_repair_options opt = {
        .names = true, .report = keep_report, .self = said};
    assert_int_equal(gt_uftrace_dir_put_map(&dir, "00000000000000a1", &line, 1, NULL), 0);
    assert_int_equal(gt_file_replace(in_dir("x.sym"), "\1\2\3", 3, NULL), 0);
    assert_int_equal(gt_uftrace_dir_repair(dir.path, &opt, NULL, NULL), 0);
    assert_string_equal(said, "x.sym: it was not readable: 0 symbols kept");
    assert_int_equal(gt_file_read(in_dir("x.sym"), 10000, &text, &size, NULL), 0);
    assert_int_equal(gt_uftrace_sym_read(text, size, &tab, NULL), 0);
    assert_string_equal(tab.path, "/bin/x");
    gt_uftrace_symtab_free(&tab);
    free(text);
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
        cmocka_unit_test_setup(test_every_cut, fresh),
        cmocka_unit_test_setup(test_values, fresh),
        cmocka_unit_test_setup(test_lost_event, fresh),
        cmocka_unit_test_setup(test_hostile_file, fresh),
        cmocka_unit_test_setup(test_text_files, fresh),
        cmocka_unit_test_setup(test_unreadable_symbols, fresh),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
