/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records that are not as they should be, and recordings that uftrace makes and we do not: how
 * calls are read from them. */
#include "calls_util.h"

#include "base/bytes.h"
#include "calls/repair/compact.h"
#include "filter/filter.h"

/* What came: a line an event: "TIME TID KIND DEPTH NAME", KIND one of + - . !, and its flags. */
static GString *came;

static int note_call(void *self, const struct gt_call *e)
{
    static const struct {
        uint8_t flag;
        const char *text;
    } flags[] = {{GT_CALL_RECURSIVE, " recursive"},
                 {GT_CALL_CLIPPED, " clipped"},
                 {GT_CALL_UNFINISHED, " unfinished"}};
    const struct gt_calls *c = self;
    g_string_append_printf(came, "%zu %u %c %u ", (size_t)e->time, gt_calls_task(c, e->task)->id,
                           "+-.!"[e->kind], e -> depth);
    if (e->kind == GT_CALL_EVENT)
        g_string_append_printf(came, "%u", e->function);
    else if (e->kind == GT_CALL_LOST)
        g_string_append_printf(came, "lost %u", e->function);
    else
        g_string_append(came, name_of(c, e->function));
    for (size_t i = 0; i < G_N_ELEMENTS(flags); i++)
        if (e->flags & flags[i].flag)
            g_string_append(came, flags[i].text);
    g_string_append_c(came, '\n');
    return 0;
}

static void walk(const char *path, const struct gt_calls_window *w)
{
    struct gt_error err = {0};
    struct gt_calls *c = open_calls(path);
    came = came ? g_string_truncate(came, 0) : g_string_new(NULL);
    if (gt_calls_walk(c, w, note_call, c, &err) != 0)
        g_string_append(came, err.text);
    gt_calls_close(c);
}

/* A directory with one program, and tasks from 50 on. */
static struct gt_uftrace_dir make_program(uint32_t tasks)
{
    struct gt_uftrace_dir d = make_dir("dir");
    put_program(&d);
    gt_uftrace_dir_add_session(&d, 1, 50, SID, PROGRAM, NULL);
    for (uint32_t i = 0; i < tasks; i++)
        gt_uftrace_dir_add_task(&d, 1, 50 + i, 50, NULL);
    put_info(&d);
    return d;
}

/* The same is to come of the directory and of a compact file of it. */
static void check_walk(const struct gt_uftrace_dir *d, const char *wanted, const char *notice)
{
    const char *file = in_scratch("file.gtrace");
    struct gt_error err = {0};
    if (gt_repair_pack(d->path, file, NULL, &err) < 0)
        fail_msg("%s", err.text);
    for (int compact = 0; compact < 2; compact++) {
        walk(compact ? file : d->path, NULL);
        assert_string_equal(came->str, wanted);
        if (!strstr(notices->str, notice) || (*notice == '\0' && notices->len > 0))
            fail_msg("notices: %s", notices->str);
    }
}

#define ENTRY(time, depth, f)                                                                      \
    {                                                                                              \
        time, gt_uftrace_entry(depth, address_of(f))                                               \
    }
#define EXIT(time, depth, f)                                                                       \
    {                                                                                              \
        time, gt_uftrace_exit(depth, address_of(f))                                                \
    }
#define PUT(d, tid, ...)                                                                           \
    put_records(d, tid, (const struct gt_compact_record[])__VA_ARGS__,                             \
                sizeof((const struct gt_compact_record[])__VA_ARGS__) /                            \
                    sizeof(struct gt_compact_record))

static void test_missing(void **state)
{
    struct gt_uftrace_dir d = make_program(1);
    (void)state;
    /* an exit of nobody, one whose inner call has none, one of another function, an entry of calls
     * that have ended without a word */
    PUT(&d, 50,
        {EXIT(10, 0, 5), ENTRY(11, 0, 1), ENTRY(12, 1, 2), ENTRY(13, 2, 3), EXIT(14, 1, 2),
         EXIT(15, 0, 4), ENTRY(16, 1, 2), ENTRY(17, 2, 3), ENTRY(18, 1, 4), EXIT(19, 1, 4),
         EXIT(20, 0, 1)});
    check_walk(&d,
               "11 50 + 0 f1\n12 50 + 1 f2\n13 50 + 2 f3\n14 50 - 2 f3\n14 50 - 1 f2\n"
               "16 50 + 1 f2\n17 50 + 2 f3\n18 50 - 2 f3\n18 50 - 1 f2\n18 50 + 1 f4\n"
               "19 50 - 1 f4\n20 50 - 0 f1\n",
               "4 records do not fit");
}

static void test_times(void **state)
{
    struct gt_uftrace_dir d = make_program(1);
    (void)state;
    PUT(&d, 50, {ENTRY(100, 0, 1), ENTRY(50, 1, 2), EXIT(60, 1, 2), EXIT(200, 0, 1)});
    check_walk(&d, "100 50 + 0 f1\n100 50 + 1 f2\n100 50 - 1 f2\n200 50 - 0 f1\n", "");
}

static void test_lost(void **state)
{
    struct gt_uftrace_dir d = make_program(2);
    (void)state;
    gt_uftrace_dir_add_event(&d, GT_UFTRACE_EV_LOST, GT_UFTRACE_EV_LOST_NAME, NULL);
    PUT(&d, 50,
        {ENTRY(10, 0, 1),
         ENTRY(11, 1, 2),
         {12, gt_uftrace_lost(7)},
         ENTRY(13, 1, 3),
         EXIT(14, 1, 3),
         EXIT(15, 0, 1)});
    PUT(&d, 51, {ENTRY(20, 0, 1), {21, gt_uftrace_event(1, GT_UFTRACE_EV_LOST)}, EXIT(22, 0, 1)});
    check_walk(&d,
               "10 50 + 0 f1\n11 50 + 1 f2\n12 50 ! 2 lost 7\n13 50 - 1 f2\n13 50 + 1 f3\n"
               "14 50 - 1 f3\n15 50 - 0 f1\n20 51 + 0 f1\n21 51 ! 1 lost 0\n22 51 - 0 f1\n",
               "");
}

static void test_unfinished(void **state)
{
    struct gt_uftrace_dir d = make_program(2);
    (void)state;
    PUT(&d, 50, {ENTRY(10, 0, 1), ENTRY(11, 1, 1), {12, gt_uftrace_event(2, 200002)}});
    PUT(&d, 51, {ENTRY(20, 0, 2)});
    check_walk(&d,
               "10 50 + 0 f1\n11 50 + 1 f1 recursive\n12 50 + 2 linux:schedule\n20 51 + 0 f2\n"
               "12 50 - 2 linux:schedule unfinished\n12 50 - 1 f1 recursive unfinished\n"
               "12 50 - 0 f1 unfinished\n20 51 - 0 f2 unfinished\n",
               "");
}

/* Deeper than records can say. */
static void test_deep(void **state)
{
    enum { DEEP = 3000 };
    static struct gt_compact_record r[2 * DEEP];
    static GString *wanted;
    struct gt_uftrace_dir d = make_program(1);
    (void)state;
    wanted = g_string_new(NULL);
    for (uint32_t i = 0; i < DEEP; i++) {
        r[i] = (struct gt_compact_record)ENTRY(10 + i, i, i % 7);
        r[2 * DEEP - 1 - i] = (struct gt_compact_record)EXIT(9 + 2 * DEEP - i, i, i % 7);
        g_string_append_printf(wanted, "%u 50 + %u f%u%s\n", 10 + i, i, i % 7,
                               i < 7 ? "" : " recursive");
    }
    for (uint32_t i = DEEP; i-- > 0;)
        g_string_append_printf(wanted, "%u 50 - %u f%u%s\n", 9 + 2 * DEEP - i, i, i % 7,
                               i < 7 ? "" : " recursive");
    put_records(&d, 50, r, 2 * DEEP);
    check_walk(&d, wanted->str, "");
    g_string_free(wanted, TRUE);
}

/* A child of uftrace's: it returns from what its parent called. */
static void test_fork(void **state)
{
    struct gt_uftrace_dir d = make_program(1);
    (void)state;
    gt_uftrace_dir_add_fork(&d, 14, 60, 50, NULL);
    gt_uftrace_dir_add_fork(&d, 22, 61, 60, NULL);
    PUT(&d, 50,
        {ENTRY(10, 0, 1), ENTRY(11, 1, 9), EXIT(13, 1, 9), ENTRY(14, 1, 8), EXIT(30, 1, 8),
         EXIT(31, 0, 1)});
    PUT(&d, 60, {EXIT(15, 1, 9), ENTRY(20, 1, 9), EXIT(23, 1, 9), EXIT(24, 0, 1)});
    PUT(&d, 61, {EXIT(25, 1, 9), ENTRY(26, 1, 2), EXIT(27, 1, 2)});
    check_walk(&d,
               "10 50 + 0 f1\n11 50 + 1 f9\n13 50 - 1 f9\n14 50 + 1 f8\n"
               "15 60 + 0 f1\n15 60 + 1 f9\n15 60 - 1 f9\n20 60 + 1 f9\n23 60 - 1 f9\n"
               "24 60 - 0 f1\n25 61 + 0 f1\n25 61 + 1 f9\n25 61 - 1 f9\n26 61 + 1 f2\n"
               "27 61 - 1 f2\n30 50 - 1 f8\n31 50 - 0 f1\n27 61 - 0 f1 unfinished\n",
               "");
}

static void add_switch(GByteArray *to, uint16_t misc, uint32_t tid, uint64_t time)
{
    uint8_t r[24];
    uint8_t *at = gt_bytes_put16(gt_bytes_put16(gt_bytes_put32(r, 14), misc), sizeof r);
    gt_bytes_put64(gt_bytes_put32(gt_bytes_put32(at, 50), tid), time);
    g_byte_array_append(to, r, sizeof r);
}

static void test_switches(void **state)
{
    enum { OUT = 1 << 13, PREEMPTED = 1 << 14 };
    struct gt_uftrace_dir d = make_program(1);
    GByteArray *perf = g_byte_array_new();
    (void)state;
    add_switch(perf, OUT, 50, 8); /* outside of calls */
    add_switch(perf, 0, 50, 9);
    add_switch(perf, OUT, 50, 12);
    add_switch(perf, OUT, 99, 13); /* nobody's */
    add_switch(perf, 0, 50, 14);
    add_switch(perf, OUT | PREEMPTED, 50, 17);
    add_switch(perf, 0, 50, 18);
    assert_int_equal(gt_file_replace(in_scratch("dir/perf-cpu1.dat"), perf->data, perf->len, NULL),
                     0);
    g_byte_array_free(perf, TRUE);
    PUT(&d, 50,
        {ENTRY(10, 0, 1), ENTRY(11, 1, 2), EXIT(15, 1, 2), ENTRY(16, 1, 3), EXIT(19, 1, 3)});
    check_walk(&d,
               "10 50 + 0 f1\n11 50 + 1 f2\n12 50 + 2 linux:schedule\n14 50 - 2 linux:schedule\n"
               "15 50 - 1 f2\n16 50 + 1 f3\n17 50 + 2 linux:schedule (pre-empted)\n"
               "18 50 - 2 linux:schedule (pre-empted)\n19 50 - 1 f3\n19 50 - 0 f1 unfinished\n",
               "");
    /* both kinds pass filters, also where no call is left around them */
    struct gt_filter_set *hide = gt_filter_set_new(NULL);
    assert_int_equal(gt_filter_set_add(hide, GT_FILTER_HIDE, "-H", "f1;f3", NULL), 0);
    walk(d.path, &(const struct gt_calls_window){.filter = hide});
    assert_string_equal(came->str,
                        "11 50 + 0 f2\n12 50 + 1 linux:schedule\n14 50 - 1 linux:schedule\n"
                        "15 50 - 0 f2\n17 50 + 0 linux:schedule (pre-empted)\n"
                        "18 50 - 0 linux:schedule (pre-empted)\n");
    gt_filter_set_free(hide);
}

/* Values of arguments between the records: 8 bytes, a string, and what looks nearly like a record.
 */
static void test_values(void **state)
{
    enum { MORE = 4 };
    struct gt_uftrace_info info = {
        .exename = PROGRAM, .feat_mask = GT_UFTRACE_FEAT_ARGUMENT, .argspec = "f1@arg1"};
    struct gt_uftrace_dir d = make_program(1);
    (void)state;
    gt_uftrace_dir_put_info(&d, &info, NULL);
    struct gt_compact_record r[] = {ENTRY(10, 0, 1), {77, UINT64_MAX}, EXIT(9, 0, 1),
                                    {1, 2},          ENTRY(11, 1, 2),  {0, 0}};
    r[0].word |= MORE;
    put_records(&d, 50, r, 4); /* two words of values, one of them an earlier time, and two more */
    r[4].word |= MORE;
    put_records(&d, 50, &r[4], 1);
    gt_file_append(in_scratch("dir/50.dat"), "\5\0hello\0", 8, NULL);
    PUT(&d, 50, {EXIT(12, 1, 2), EXIT(13, 0, 1)});
    walk(d.path, NULL);
    assert_string_equal(came->str, "10 50 + 0 f1\n11 50 + 1 f2\n12 50 - 1 f2\n13 50 - 0 f1\n");
    assert_string_equal(notices->str, "");
    struct gt_calls *c = open_calls(d.path);
    assert_int_equal(gt_calls_facts(c)->records, 4);
    assert_int_equal(gt_calls_facts(c)->last, 13);
    gt_calls_close(c);
    /* values that end nowhere */
    const struct gt_compact_record first = {14, gt_uftrace_entry(0, address_of(1)) | MORE};
    put_records(&d, 50, &first, 1);
    for (int i = 0; i < 300; i++)
        put_records(&d, 50, &r[1], 1);
    walk(d.path, NULL);
    assert_non_null(strstr(notices->str, "50.dat: offset 120: a record is incomplete"));
}

/* ---- callers that end a pass ------------------------------------------------------------------
 */

static int end_after(void *self, const struct gt_call *e)
{
    int *left = self;
    (void)e;
    return --*left == 0 ? 17 : 0;
}

struct failing {
    unsigned shares, merged, freed;
    int status;
};

static void *make_share(void *self)
{
    struct failing *f = self;
    return ++f->shares ? f : NULL;
}

static int fail_batch(void *share, const struct gt_calls_batch *b)
{
    const struct failing *f = share;
    return b->n > 0 ? f->status : 0;
}

static int merge(void *self, void *share)
{
    struct failing *f = share;
    f->merged += self != NULL;
    f->freed++;
    return 0;
}

static void test_ended(void **state)
{
    static const struct gt_calls_consumer consumer = {make_share, fail_batch, merge};
    struct gt_uftrace_dir d = make_program(3);
    struct gt_error err = {0};
    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        PUT(&d, 50 + i, {ENTRY(10, 0, 1), ENTRY(11, 1, 2), EXIT(12, 1, 2)});
    struct gt_calls *c = open_calls(d.path);
    int left = 4;
    assert_int_equal(gt_calls_walk(c, NULL, end_after, &left, &err), 17);
    assert_int_equal(left, 0);
    struct failing f = {.status = GT_E_RANGE};
    assert_int_equal(gt_calls_scan(c, NULL, &consumer, &f, 2, &err), GT_E_RANGE);
    assert_int_equal(f.shares, 2);
    assert_int_equal(f.merged, 0);
    assert_int_equal(f.freed, 2);
    f = (struct failing){0};
    assert_int_equal(gt_calls_scan(c, NULL, &consumer, &f, 2, &err), 0);
    assert_int_equal(f.merged, 2);
    gt_calls_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing),  cmocka_unit_test(test_times),
        cmocka_unit_test(test_lost),     cmocka_unit_test(test_unfinished),
        cmocka_unit_test(test_deep),     cmocka_unit_test(test_fork),
        cmocka_unit_test(test_switches), cmocka_unit_test(test_values),
        cmocka_unit_test(test_ended),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
