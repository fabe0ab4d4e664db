/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the recorder's text files say of modules, symbols, threads and the machine. */
#include "calls/recorder/finish.h"
#include "calls/recorder/output/meta.h"
#include "calls/recorder/output/tasks.h"
#include "recorder_double.h"
#include "recording/texts/files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { SCOREBOARD = 2 };

/* A program has begun: its directory is there. */
static struct gt_recorder *begin(const char *target, const char *const *words)
{
    struct gt_recorder *r = recorder_start(target, 0, SCOREBOARD, words);
    struct gt_host_block b;
    host_double.program = "/bin/guest";
    recorder_begin_vcpu(0);
    PROGRAM_BLOCK(&b, ALPHA, NOP, RET);
    translate(r, &b);
    struct gt_vcpu *v = gt_vcpu_at(r, 0);
    gt_run_vcpu_begin(v, gt_run_vcpu_score(r, v, 0),
                      gt_run_cached_block_at(r, (uintptr_t)code_page + ALPHA)->code);
    assert_true(r->output.started);
    return r;
}

static void put_bytes(const struct gt_recorder *r, const char *name, const void *data, size_t n)
{
    g_autofree char *path = g_build_filename(r->output.dir.path, name, NULL);
    assert_true(g_file_set_contents(path, data, (gssize)n, NULL));
}

static void expect(const struct gt_recorder *r, const char *name, const char *text)
{
    g_autofree char *all = recorder_file(r, name);
    if (!all || !strstr(all, text))
        fail_msg("%s: no \"%s\" in: %s", name, text, all);
}

/* ---- threads and times --------------------------------------------------------------------- */

static void test_last_time(void **state)
{
    (void)state;
    const uint64_t records[] = {10, 1, 20, 2, UINT64_MAX - 5, 3};
    struct gt_recorder *r = begin("aarch64", NULL);
    const struct gt_uftrace_dir *d = &r->output.dir;
    assert_int_equal(gt_recorder_meta_last_time(d, 4711), 0);
    put_bytes(r, "4711.dat", records, 0);
    assert_int_equal(gt_recorder_meta_last_time(d, 4711), 0);
    for (size_t n = 1; n <= sizeof records; n++) {
        put_bytes(r, "4711.dat", records, n); /* torn ones do not count */
        uint64_t wanted = n < 16 ? 0 : records[n / 16 * 2 - 2];
        assert_true(gt_recorder_meta_last_time(d, 4711) == wanted);
    }
}

static void test_thread_name(void **state)
{
    (void)state;
    char name[16], before[16];
    prctl(PR_GET_NAME, before);
    prctl(PR_SET_NAME, "a name 15 long.");
    gt_recorder_meta_thread_name((uint32_t)gettid(), name);
    prctl(PR_SET_NAME, before);
    assert_string_equal(name, "a name 15 long.");
    gt_recorder_meta_thread_name(UINT32_MAX, name);
    assert_string_equal(name, "");
}

static void test_init(void **state)
{
    (void)state;
    struct gt_recorder *r = begin("aarch64", NULL);
    assert_string_equal(r->process.exename, "/bin/guest");
    assert_non_null(strstr(r->process.cmdline, "uftrace_meta_test"));
    assert_int_equal(strspn(r->output.sid, "0123456789abcdef"), 16);
    g_autofree char *first = g_strdup(r->output.sid);
    gt_recorder_meta_init(r);
    assert_string_not_equal(r->output.sid, first);
}

/* ---- modules ------------------------------------------------------------------------------- */

static struct gt_support_module *add(struct gt_recorder *r, const char *path, uint64_t lo,
                                     uint64_t loaded)
{
    struct gt_support_module *m = g_new0(struct gt_support_module, 1);
    m->lo = lo;
    m->hi = lo + 0x1000;
    m->path = g_strdup(path);
    m->loaded = loaded;
    m->entered = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    m->handlers = g_ptr_array_new();
    g_ptr_array_add(r->code.modules.all, m);
    return m;
}

/* They are not the recorder's. */
static void drop(struct gt_recorder *r, guint n)
{
    for (guint i = r->code.modules.all->len; n > 0; n--) {
        struct gt_support_module *m = g_ptr_array_index(r->code.modules.all, --i);
        g_ptr_array_set_size(r->code.modules.all, (gint)i);
        g_array_free(m->entered, TRUE);
        g_ptr_array_free(m->handlers, TRUE);
        g_free(m->path);
        g_free(m);
    }
}

static char *map_of(const struct gt_recorder *r)
{
    g_autofree char *name = g_strdup_printf("sid-%s.map", r->output.sid);
    return recorder_file(r, name);
}

/* What shared its place with another has a time in task.txt, in order, and no line in the map. */
static void test_map(void **state)
{
    (void)state;
    struct gt_recorder *r = begin("aarch64", NULL);
    struct gt_support_module *a = add(r, "/lib/a.so", 0x10000, 1);
    struct gt_support_module *late = add(r, "/lib/late.so", 0x20000, 9000),
                             *early = add(r, "/lib/early.so", 0x20000, 8000);
    late->apart = early->apart = true;
    assert_int_equal(gt_recorder_meta_put_map(r, NULL), 0);
    assert_true(a->mapped && !a->listed && late->listed && early->listed && !late->mapped);
    g_autofree char *map = map_of(r), *task = recorder_file(r, "task.txt");
    assert_non_null(strstr(map, "000000010000-000000011000 r-xp 00000000 00:00 0 "));
    assert_non_null(strstr(map, "/lib/a.so\n"));
    assert_null(strstr(map, "late"));
    const char *first = strstr(task, "early.so"), *second = strstr(task, "late.so");
    assert_true(first && second && first < second);
    assert_int_equal(gt_recorder_meta_put_map(r, NULL), 0); /* once only */
    g_autofree char *again = recorder_file(r, "task.txt");
    assert_string_equal(again, task);
    drop(r, 3);
}

/* A module that displaces one of the map takes its line away. */
static void test_add_module(void **state)
{
    (void)state;
    struct gt_recorder *r = begin("aarch64", NULL);
    struct gt_support_module *old = add(r, "/lib/old.so", 0x10000, 1);
    assert_int_equal(gt_recorder_meta_add_module(r, old, NULL), 0);
    assert_true(old->saved && old->mapped);
    g_autofree char *before = map_of(r);
    assert_non_null(strstr(before, "/lib/old.so\n"));
    expect(r, "old.so.sym", "# path name: /lib/old.so\n");
    struct gt_support_module *new = add(r, "/lib/new.so", 0x10000, 50);
    old->apart = new->apart = true;
    g_ptr_array_add(r->code.modules.displaced, old);
    assert_int_equal(gt_recorder_meta_add_module(r, new, NULL), 0);
    g_ptr_array_set_size(r->code.modules.displaced, 0);
    g_autofree char *map = map_of(r);
    assert_null(strstr(map, ".so\n"));
    assert_true(old->listed && new->listed && !old->mapped);
    expect(r, "task.txt", "old.so");
    expect(r, "task.txt", "timestamp=0.000000050");
    drop(r, 2);
}

static void test_map_not_written(void **state)
{
    (void)state;
    struct gt_recorder *r = begin("aarch64", NULL);
    g_autofree char *path = g_strdup_printf("%s/sid-%s.map", r->output.dir.path, r->output.sid);
    struct gt_error err = {0};
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_true(gt_recorder_meta_put_map(r, &err) < 0);
    assert_non_null(strstr(err.text, path));
    assert_true(r->output.map_is_stale);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(gt_recorder_meta_put_map(r, NULL), 0);
    assert_false(r->output.map_is_stale);
}

/* Addresses that have no symbol are named by the file and where they are in it; a machine's by the
 * address alone. */
static void test_symbols(void **state)
{
    (void)state;
    char first[] = "first", exported[] = "exported";
    struct gt_elf_symbol known[] = {{.addr = 0x10, .size = 8, .name = first, .type = 'T'},
                                    {.addr = 0x40, .size = 8, .name = exported, .type = 'e'}};
    struct gt_elf_symbols symbols = {.sym = known, .n_sym = 2};
    const uint64_t entered[] = {0x20, 0x80};
    struct gt_recorder *r = begin("aarch64", NULL);
    struct gt_support_module *m = add(r, "/lib/some.so", 0x10000, 1);
    m->symbols = &symbols;
    g_array_append_vals(m->entered, entered, 2);
    assert_int_equal(gt_recorder_meta_put_symbols(r, m, NULL), 0);
    g_autofree char *text = recorder_file(r, "some.so.sym");
    const char *const wanted[] = {" T first\n", " t some.so+0x20\n", " t exported\n",
                                  " t some.so+0x80\n"};
    const char *at = text;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        at = strstr(at, wanted[i]);
        if (!at)
            fail_msg("no \"%s\" in its place in: %s", wanted[i], text);
    }
    m->symbols = NULL;
    m->lo = 0;
    m->hi = UINT64_MAX;
    g_free(m->path);
    m->path = g_strdup("machine");
    assert_int_equal(gt_recorder_meta_put_symbols(r, m, NULL), 0);
    expect(r, "machine.sym", "0000000000000080 t 0x80\n");
    drop(r, 1);
}

/* ---- the machine, counts ------------------------------------------------------------------- */

static void read_info(const struct gt_recorder *r, struct gt_uftrace_info *info, char **text)
{
    g_autofree char *path = g_build_filename(r->output.dir.path, "info", NULL);
    gsize size;
    assert_true(g_file_get_contents(path, text, &size, NULL));
    assert_int_equal(gt_uftrace_info_read(*text, size, info, NULL), 0);
}

static void test_info(void **state)
{
    (void)state;
    static const struct {
        const char *target, *cpu;
    } rows[] = {
        {"aarch64", "ARM64 (emulated)"}, {"riscv64", "RISCV64 (emulated)"}, {"x86_64", "x86_64"}};
    static const char *const deep[] = {"depth=1000000", NULL};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_uftrace_info info;
        char *text;
        struct gt_recorder *r = begin(rows[i].target, deep);
        r->process.has_exit_status = true;
        r->process.exit_status = 3;
        assert_int_equal(gt_recorder_meta_put_info(r, NULL), 0);
        read_info(r, &info, &text);
        assert_string_equal(info.cpu_desc, rows[i].cpu);
        assert_int_equal(info.max_stack, 65535);
        assert_true(info.has_exit_status);
        assert_int_equal(info.exit_status, 3 << 8);
        assert_true(info.cpus_online >= 1 && info.cpus_possible >= info.cpus_online);
        assert_string_equal(info.exename, "/bin/guest");
        gt_uftrace_info_free(&info);
        g_free(text);
        recorder_stop(r);
    }
}

/* Counts of a file that cannot be read begin at 0, and what is there is not lost by an error. */
static void test_stats(void **state)
{
    (void)state;
    static const char odd[] = "calls=abc\nmatched=\n\x80\xff\nrecords=-1\nprocesses=4\n";
    struct gt_recorder *r = begin("aarch64", NULL);
    struct gt_error err = {0};
    put_bytes(r, GT_STATS_FILE, odd, sizeof odd - 1);
    r->totals.matched = 7;
    assert_int_equal(gt_recorder_meta_put_stats(r, 3, NULL), 0);
    expect(r, GT_STATS_FILE, "calls=3\n");
    expect(r, GT_STATS_FILE, "matched=7\n");
    expect(r, GT_STATS_FILE, "processes=5\n");
    g_autofree char *path = g_build_filename(r->output.dir.path, GT_STATS_FILE, NULL);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(gt_recorder_meta_put_stats(r, 0, &err), GT_E_IO);
    assert_non_null(strstr(err.text, GT_STATS_FILE));
    assert_int_equal(rmdir(path), 0);
}

#define WITH_RECORDER(test) cmocka_unit_test_teardown(test, recorder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_RECORDER(test_last_time),  cmocka_unit_test(test_thread_name),
        WITH_RECORDER(test_init),       WITH_RECORDER(test_map),
        WITH_RECORDER(test_add_module), WITH_RECORDER(test_map_not_written),
        WITH_RECORDER(test_symbols),    WITH_RECORDER(test_info),
        WITH_RECORDER(test_stats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
