/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an opened recording says (calls/read/calls.h): tasks, names, sessions, functions, marks,
 * facts. Each is made as a directory, and read from it and from a compact file of it. */
#include "calls_util.h"

#include "calls/repair/compact.h"

#define OTHER_SID "00000000000000b2"

/* What was called, a line each: "TASK NAME MODULE". */
static GString *called;

static int note_call(void *self, const struct gt_call *e)
{
    const struct gt_calls *c = self;
    if (e->kind == GT_CALL_ENTRY) {
        const struct gt_calls_function *f = gt_calls_function(c, e->function);
        g_string_append_printf(called, "%u %s %s\n", gt_calls_task(c, e->task)->id, f->name,
                               f->module);
    }
    return 0;
}

/* Calls `check` with the directory, and with a compact file of it. */
static void check_both(const struct gt_uftrace_dir *d,
                       void (*check)(struct gt_calls *c, bool compact))
{
    const char *file = in_scratch("file.gtrace");
    struct gt_error err = {0};
    if (gt_repair_pack(d->path, file, NULL, &err) < 0)
        fail_msg("%s", err.text);
    for (int compact = 0; compact < 2; compact++) {
        struct gt_calls *c = open_calls(compact ? file : d->path);
        called = g_string_new(NULL);
        assert_int_equal(gt_calls_walk(c, NULL, note_call, c, NULL), 0);
        check(c, compact);
        g_string_free(called, TRUE);
        gt_calls_close(c);
    }
}

/* A call of each address, one after the other; times from `time` on. */
static void put_calls(const struct gt_uftrace_dir *d, uint32_t tid, uint64_t time,
                      const uint64_t *address, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct gt_compact_record r[] = {{time + 2 * i, gt_uftrace_entry(0, address[i])},
                                              {time + 2 * i + 1, gt_uftrace_exit(0, address[i])}};
        put_records(d, tid, r, 2);
    }
}

/* ---- tasks --------------------------------------------------------------------------------- */

static void check_tasks(struct gt_calls *c, bool compact)
{
    const struct gt_calls_task *t = gt_calls_task(c, 0), *child = gt_calls_task(c, 2);
    (void)compact;
    assert_int_equal(gt_calls_n_tasks(c), 4);
    assert_int_equal(gt_calls_n_processes(c), 2);
    assert_int_equal(t->id, 50);
    assert_int_equal(t->start, 5);
    assert_int_equal(gt_calls_process(c, t->process)->pid, 50);
    assert_int_equal(gt_calls_process(c, t->process)->start, 5);
    assert_string_equal(gt_calls_process(c, t->process)->exename, "/bin/next");
    assert_int_equal(t->n_names, 3);
    assert_string_equal(t->names[0].name, "prog");
    assert_string_equal(t->names[1].name, "worker");
    assert_int_equal(t->names[1].time, 12);
    assert_string_equal(t->names[2].name, "next");
    assert_string_equal(t->name, "next");
    assert_int_equal(gt_calls_task(c, 1)->id, 51);
    assert_int_equal(gt_calls_task(c, 1)->process, t->process);
    assert_string_equal(gt_calls_task(c, 1)->name, "prog");
    assert_int_equal(child->id, 60);
    assert_int_equal(gt_calls_process(c, child->process)->pid, 60);
    assert_string_equal(gt_calls_process(c, child->process)->exename, PROGRAM);
    assert_string_equal(child->name, "prog");
    assert_int_equal(gt_calls_task(c, 3)->process, child->process);
    assert_string_equal(gt_calls_task(c, 3)->name, "prog");
    /* 50 runs another program from 100 on; 60 and its thread have its parent's */
    assert_string_equal(called->str, "50 f1 /bin/prog\n51 f2 /bin/prog\n60 f3 /bin/prog\n"
                                     "61 f2 /bin/prog\n50 g1 /bin/next\n60 f3 /bin/prog\n");
}

static void test_tasks(void **state)
{
    static const uint64_t f[] = {BASE + 0x10, BASE + 0x20, BASE + 0x30};
    const struct gt_uftrace_mapping map = {BASE, BASE + 0x100, "/bin/next", NULL};
    const struct gt_uftrace_module next = {"/bin/next", NULL};
    const struct gt_uftrace_symbol g = {0x10, 0x10, "g1", 'T'};
    struct gt_uftrace_dir d = make_dir("dir");
    (void)state;
    put_program(&d);
    gt_uftrace_dir_put_map(&d, OTHER_SID, &map, 1, NULL);
    gt_uftrace_dir_put_symbols(&d, &next, &g, 1, NULL);
    gt_uftrace_dir_add_session(&d, 5, 50, SID, PROGRAM, NULL);
    gt_uftrace_dir_add_task(&d, 5, 50, 50, NULL);
    gt_uftrace_dir_add_task(&d, 7, 51, 50, NULL);
    gt_uftrace_dir_add_fork(&d, 20, 60, 50, NULL);
    gt_uftrace_dir_add_task(&d, 25, 61, 60, NULL);
    gt_uftrace_dir_add_session(&d, 100, 50, OTHER_SID, "/bin/next", NULL);
    gt_uftrace_dir_add_task(&d, 100, 50, 50, NULL);
    gt_uftrace_dir_add_name(&d, 12, 50, 50, "worker", NULL);
    put_info(&d);
    put_calls(&d, 50, 10, &f[0], 1);
    put_calls(&d, 51, 15, &f[1], 1);
    put_calls(&d, 60, 30, &f[2], 1);
    put_calls(&d, 61, 35, &f[1], 1);
    put_calls(&d, 50, 110, &f[0], 1);
    put_calls(&d, 60, 120, &f[2], 1);
    check_both(&d, check_tasks);
}

static void check_guest(struct gt_calls *c, bool compact)
{
    (void)compact;
    assert_int_equal(gt_calls_task(c, 0)->guest_pid, 0);
    assert_int_equal(gt_calls_task(c, 1)->guest_pid, 17);
    assert_int_equal(gt_calls_task(c, 1)->guest_tgid, 16);
    /* a task without a session */
    assert_string_equal(called->str, "1 f1 /bin/prog\n1001 <123> \n");
}

static void test_guest(void **state)
{
    static const uint64_t f[] = {BASE + 0x10, 0x123};
    struct gt_uftrace_dir d = make_dir("dir");
    (void)state;
    put_program(&d);
    gt_uftrace_dir_add_session(&d, 1, 1, SID, PROGRAM, NULL);
    gt_uftrace_dir_add_task(&d, 1, 1, 1, NULL);
    gt_uftrace_dir_add_task(&d, 2, 1001, 1001, NULL);
    put_text(&d, "guest-tasks.txt", "1001 17 16 a\nnonsense\n1001 17 16 b\n99 1 1 c\n");
    put_info(&d);
    put_calls(&d, 1, 10, &f[0], 1);
    put_calls(&d, 1001, 20, &f[1], 1);
    check_both(&d, check_guest);
}

/* ---- functions ----------------------------------------------------------------------------- */

enum { LIBRARY = 0x700000, KERNEL_SIZE = 0x100000 };
#define KERNEL UINT64_C(0xffff800010000000)

static void check_functions(struct gt_calls *c, bool compact)
{
    (void)compact;
    assert_string_equal(called->str, "50 f1 /bin/prog\n"    /* in the middle of it */
                                     "50 one /lib/lib.so\n" /* the two files of one name */
                                     "50 two /usr/lib/lib.so\n"
                                     "50 do_it /boot/vmlinuz\n" /* 48 bits of it */
                                     "50 <500000> \n"           /* in no module */
                                     "50 <4001f0> /bin/prog\n"  /* in a module, but no symbol */
                                     "50 <700018> \n"           /* not loaded yet */
                                     "50 late ./late.so\n");
    const struct gt_calls_function *f = NULL;
    for (uint32_t i = 0; i < gt_calls_n_functions(c); i++)
        if (strcmp(name_of(c, i), "two") == 0)
            f = gt_calls_function(c, i);
    assert_non_null(f);
    assert_int_equal(f->address, 0x20);
    assert_string_equal(f->file, "src/two.c");
    assert_int_equal(f->line, 12);
    assert_true(f->is_plt);
}

static void put_module(const struct gt_uftrace_dir *d, const char *path, const char *id,
                       uint64_t address, const char *name, char type)
{
    const struct gt_uftrace_module m = {path, id};
    const struct gt_uftrace_symbol s = {address, 0x10, name, type};
    assert_int_equal(gt_uftrace_dir_put_symbols(d, &m, &s, 1, NULL), 0);
}

static void test_functions(void **state)
{
    static const uint64_t f[] = {
        BASE + 0x18, 0x600010,     0x620024,      (KERNEL + 0x5008) & GT_UFTRACE_ADDR_MASK,
        0x500000,    BASE + 0x1f0, LIBRARY + 0x18};
    static const uint64_t late = LIBRARY + 0x18;
    const struct gt_uftrace_mapping map[] = {
        {BASE, BASE + 0x200, PROGRAM, NULL},
        {0x600000, 0x601000, "/lib/lib.so", NULL},
        {0x620000, 0x621000, "/usr/lib/lib.so", "abcdef"},
        {KERNEL, KERNEL + KERNEL_SIZE, "/boot/vmlinuz", NULL},
    };
    const struct gt_uftrace_module two = {"/usr/lib/lib.so", "abcdef"};
    const struct gt_uftrace_dbg lines[] = {{GT_UFTRACE_DBG_FUNC, 0x20, 0, "two"},
                                           {GT_UFTRACE_DBG_LINE, 0, 12, "src/two.c"}};
    struct gt_uftrace_dir d = make_dir("dir");
    (void)state;
    put_program(&d);
    gt_uftrace_dir_put_map(&d, SID, map, 4, NULL);
    put_module(&d, "/lib/lib.so", NULL, 0x10, "one", 'T');
    put_module(&d, "/usr/lib/lib.so", "abcdef", 0x20, "two", 'P');
    assert_int_equal(gt_uftrace_dir_put_debug(&d, &two, lines, 2, NULL), 0);
    put_module(&d, "/boot/vmlinuz", NULL, 0x5000, "do_it", 'T');
    put_module(&d, "/elsewhere/late.so", NULL, 0x10, "late", 'T');
    gt_uftrace_dir_add_session(&d, 5, 50, SID, PROGRAM, NULL);
    gt_uftrace_dir_add_task(&d, 5, 50, 50, NULL);
    gt_uftrace_dir_add_library(&d, 100, 50, SID, LIBRARY, "./late.so", NULL);
    put_info(&d);
    put_calls(&d, 50, 10, f, 7);
    put_calls(&d, 50, 110, &late, 1);
    check_both(&d, check_functions);
}

/* ---- texts --------------------------------------------------------------------------------- */

static void check_texts(struct gt_calls *c, bool compact)
{
    const struct gt_calls_facts *f = gt_calls_facts(c);
    size_t n;
    const struct gt_calls_mark *mark = gt_calls_marks(c, &n);
    assert_int_equal(n, 3);
    assert_int_equal(mark[0].time, 500000000);
    assert_string_equal(mark[0].text, "first");
    assert_string_equal(mark[1].text, "second  line ");
    assert_int_equal(mark[2].time, UINT64_C(3000000001));
    assert_string_equal(gt_calls_event_name(c, 1000007), "probe:this");
    assert_null(gt_calls_event_name(c, 1000008));
    assert_int_equal(f->form, compact ? GT_CALLS_COMPACT : GT_CALLS_DIRECTORY);
    assert_string_equal(f->command, "prog 1 2");
    assert_string_equal(f->exename, PROGRAM);
    assert_string_equal(f->cpu, "a CPU");
    assert_string_equal(f->host, "");
    assert_false(f->has_exit_status);
    assert_int_equal(f->records, 2);
    assert_int_equal(f->first, 10);
    assert_int_equal(f->last, 11);
    assert_false(f->incomplete);
    if (!compact)
        assert_int_equal(f->record_bytes, 32);
    assert_true(f->bytes > f->record_bytes);
    char *stats = gt_calls_text(c, "guesttrace.stats", &n);
    assert_string_equal(stats, "calls=1\n");
    free(stats);
    assert_null(gt_calls_text(c, "no.such", &n));
    assert_string_equal(notices->str, "");
}

static void test_texts(void **state)
{
    static const uint64_t f = BASE;
    struct gt_uftrace_dir d = make_dir("dir");
    (void)state;
    put_program(&d);
    gt_uftrace_dir_add_session(&d, 5, 50, SID, PROGRAM, NULL);
    gt_uftrace_dir_add_task(&d, 5, 50, 50, NULL);
    gt_uftrace_dir_add_event(&d, 1000007, "probe:this", NULL);
    put_text(&d, "extern.dat", "3.000000001 last\n0.5 first\nnonsense\n1.25 second  line \n");
    put_text(&d, "guesttrace.stats", "calls=1\n");
    put_info(&d);
    put_calls(&d, 50, 10, &f, 1);
    check_both(&d, check_texts);
}

/* ---- what is damaged or missing -------------------------------------------------------------- */

static void check_refused(const char *path, int status, const char *text)
{
    struct gt_calls *c;
    struct gt_error err = {0};
    assert_int_equal(gt_calls_open(path, NULL, &c, &err), status);
    assert_null(c);
    if (!strstr(err.text, text))
        fail_msg("'%s' in '%s'", text, err.text);
}

static void test_refused(void **state)
{
    struct gt_uftrace_dir d = make_dir("dir");
    (void)state;
    check_refused(in_scratch("nothing"), GT_E_NOT_FOUND, "nothing");
    check_refused(d.path, GT_E_FORMAT, "not a recording of calls");
    put_text(&d, "file", "text\n");
    check_refused(in_scratch("dir/file"), GT_E_FORMAT, "dir/file");
    gt_uftrace_dir_add_session(&d, 5, 50, SID, PROGRAM, NULL);
    put_program(&d);
    put_info(&d);
    put_text(&d, "task.txt",
             "SESS timestamp=0.000000001 pid=1 sid=" SID " exename=\"/a\"\nTASK x\n");
    check_refused(d.path, GT_E_FORMAT, "task.txt line 2");
    put_text(&d, "task.txt", "SESS timestamp=0.000000001 pid=1 sid=" SID " exename=\"/a\"\n");
    put_text(&d, "sid-" SID ".map", "x\n");
    check_refused(d.path, GT_E_FORMAT, "sid-" SID ".map: map line 1");
    put_program(&d);
    put_text(&d, "info", "Ftrace!");
    check_refused(d.path, GT_E_FORMAT, "info");
}

/* What a killed recording has: no info, half a line, half a record, no map, damaged symbols. */
static void test_cut(void **state)
{
    static const uint64_t f = BASE + 0x10;
    struct gt_uftrace_dir d = make_dir("dir");
    (void)state;
    put_calls(&d, 50, 10, &f, 1);
    put_calls(&d, 51, 20, &f, 1);
    gt_file_append(in_scratch("dir/50.dat"), "half a", 6, NULL);
    put_text(&d, "task.txt",
             "SESS timestamp=0.000000001 pid=50 sid=" SID " exename=\"/a\"\n"
             "TASK timestamp=0.000000001 tid=50 pid=50\nTASK times");
    struct gt_calls *c = open_calls(d.path);
    called = g_string_new(NULL);
    assert_int_equal(gt_calls_walk(c, NULL, note_call, c, NULL), 0);
    assert_string_equal(called->str, "50 <400010> \n51 <400010> \n");
    assert_true(gt_calls_facts(c)->incomplete);
    assert_int_equal(gt_calls_facts(c)->records, 4);
    assert_non_null(strstr(notices->str, "there is no info"));
    assert_non_null(strstr(notices->str, "task.txt line 3: it was cut"));
    assert_non_null(strstr(notices->str, "50.dat: offset 32: a record is incomplete"));
    assert_non_null(strstr(notices->str, "there is no sid-" SID ".map"));
    gt_calls_close(c);
    put_program(&d);
    put_text(&d, "prog.sym", "nonsense\n");
    c = open_calls(d.path);
    g_string_truncate(called, 0);
    assert_int_equal(gt_calls_walk(c, NULL, note_call, c, NULL), 0);
    assert_string_equal(called->str, "50 <400010> /bin/prog\n51 <400010> \n");
    assert_non_null(strstr(notices->str, "prog.sym: symbols line 1"));
    gt_calls_close(c);
    g_string_free(called, TRUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tasks),     cmocka_unit_test(test_guest),
        cmocka_unit_test(test_functions), cmocka_unit_test(test_texts),
        cmocka_unit_test(test_refused),   cmocka_unit_test(test_cut),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
