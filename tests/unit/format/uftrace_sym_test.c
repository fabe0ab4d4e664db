/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NAME.sym and NAME.dbg. */
#include "recording/directory/uftrace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct gt_uftrace_module module = {"/bin/a b", "abcd"};
static const struct gt_uftrace_symbol sym[] = {
    {0x0, 0x10, "first", 'T'},  {0x10, 0x10, "longjmp", 't'},  {0x10, 0x10, "alias", 'w'},
    {0x40, 0, "open_end", 'P'}, {0x50, 0x99, "overlaps", 'D'}, {0x60, 0, "bad\"type\n", '\n'},
};
static const char text[] = "# symbols: 5\n"
                           "# path name: /bin/a_b\n"
                           "# build-id: abcd\n"
                           "0000000000000000 T first\n"
                           "0000000000000010 t longjmp()\n"
                           "0000000000000020 ? __sym_end\n"
                           "0000000000000040 P open_end\n"
                           "0000000000000050 D overlaps\n"
                           "0000000000000060 T bad?type?\n"
                           "0000000000000061 ? __sym_end\n";

static void test_round_trip(void **state)
{
    (void)state;
    static const struct gt_uftrace_symbol want[] = {
        {0x0, 0x10, "first", 'T'},     {0x10, 0x10, "longjmp", 't'}, {0x40, 0x10, "open_end", 'P'},
        {0x50, 0x10, "overlaps", 'D'}, {0x60, 1, "bad?type?", 'T'},
    };
    struct gt_text t = {0};
    struct gt_uftrace_symtab got;
    assert_int_equal(gt_uftrace_sym_write(&t, &module, sym, 6, NULL), 0);
    assert_string_equal(t.data, text);
    assert_int_equal(gt_uftrace_sym_read(t.data, t.len, &got, NULL), 0);
    assert_string_equal(got.path, "/bin/a_b");
    assert_string_equal(got.build_id, "abcd");
    assert_int_equal(got.n, 5);
    for (size_t i = 0; i < got.n; i++) {
        assert_int_equal(got.sym[i].addr, want[i].addr);
        assert_int_equal(got.sym[i].size, want[i].size);
        assert_int_equal(got.sym[i].type, want[i].type);
        assert_string_equal(got.sym[i].name, want[i].name);
    }
    assert_string_equal(gt_uftrace_symtab_find(&got, 0xf)->name, "first");
    assert_string_equal(gt_uftrace_symtab_find(&got, 0x10)->name, "longjmp");
    assert_null(gt_uftrace_symtab_find(&got, 0x20));
    assert_null(gt_uftrace_symtab_find(&got, 0x61));
    assert_null(gt_uftrace_symtab_find(&got, UINT64_MAX));
    gt_uftrace_symtab_free(&got);
    gt_text_free(&t);
}

static void test_every_cut(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof text; n++) {
        struct gt_uftrace_symtab got;
        char *exact = malloc(n ? n : 1);
        assert_non_null(exact);
        memcpy(exact, text, n);
        bool whole = n == 0 || text[n - 1] == '\n';
        assert_int_equal(gt_uftrace_sym_read(exact, n, &got, NULL), whole ? 0 : GT_E_TRUNC);
        if (whole)
            gt_uftrace_symtab_free(&got);
        free(exact);
    }
}

static void write_one(struct gt_text *t, struct gt_uftrace_symbol s)
{
    assert_int_equal(gt_uftrace_sym_write(t, &module, &s, 1, NULL), 0);
}

static void test_edges(void **state)
{
    (void)state;
    struct gt_text t = {0};
    struct gt_uftrace_symtab got;
    /* No symbol: one of the module's name, over all of it. */
    assert_int_equal(gt_uftrace_sym_write(&t, &module, NULL, 0, NULL), 0);
    assert_int_equal(gt_uftrace_sym_read(t.data, t.len, &got, NULL), 0);
    assert_int_equal(got.n, 1);
    assert_string_equal(gt_uftrace_symtab_find(&got, 0xfffffff)->name, "a_b");
    gt_uftrace_symtab_free(&got);
    gt_text_free(&t);
    write_one(&t, (struct gt_uftrace_symbol){UINT64_MAX, UINT64_MAX, "", 'T'});
    assert_non_null(strstr(t.data, "ffffffffffffffff T ?\n"));
    gt_text_free(&t);
    const struct gt_uftrace_symbol unsorted[] = {{2, 1, "a", 'T'}, {1, 1, "b", 'T'}};
    assert_int_equal(gt_uftrace_sym_write(&t, &module, unsorted, 2, NULL), GT_E_USAGE);
    gt_text_free(&t);
    /* Two names that differ after 2000 bytes stay two. */
    static char name[2][3001];
    char *end[2];
    for (int i = 0; i < 2; i++) {
        memset(name[i], 'n', 3000);
        name[i][2999] = (char)('0' + i);
        write_one(&t, (struct gt_uftrace_symbol){0, 1, name[i], 'T'});
        end[i] = strdup(strchr(strstr(t.data, " T "), '~'));
        assert_in_range(strcspn(strstr(t.data, " T ") + 3, "\n"), 1980, 2000);
        gt_text_free(&t);
    }
    assert_string_not_equal(end[0], end[1]);
    free(end[0]);
    free(end[1]);
}

/* The first symbol's. */
static void expect_name(const char *written, size_t size, const char *name)
{
    struct gt_uftrace_symtab got;
    assert_int_equal(gt_uftrace_sym_read(written, size, &got, NULL), 0);
    assert_string_equal(got.sym[0].name, name);
    gt_uftrace_symtab_free(&got);
}

static void test_special_names(void **state)
{
    (void)state;
    static const char *const special[] = {
        "execl",      "execlp",        "execle",  "execv",     "execve",      "execvp",
        "execvpe",    "setjmp",        "_setjmp", "sigsetjmp", "__sigsetjmp", "longjmp",
        "siglongjmp", "__longjmp_chk", "fork",    "vfork",     "daemon",      "__sym_end",
    };
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        struct gt_text t = {0};
        char line[64];
        write_one(&t, (struct gt_uftrace_symbol){0, 1, special[i], 'T'});
        snprintf(line, sizeof line, " T %s()\n", special[i]);
        assert_non_null(strstr(t.data, line));
        expect_name(t.data, t.len, special[i]);
        gt_text_free(&t);
    }
    static const char *const others[][2] = {{"forks()", "forks()"},     {"fork()()", "fork"},
                                            {"fork(int)", "fork(int)"}, {"()", "()"},
                                            {"()()", "()()"},           {"a::fork()", "a::fork()"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char written[64];
        int n = snprintf(written, sizeof written, "0000000000000000 T %s\n", others[i][0]);
        expect_name(written, (size_t)n, others[i][1]);
    }
    assert_false(gt_uftrace_name_is_special("forks"));
    assert_false(gt_uftrace_name_is_special(""));
}

static void test_hostile(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "x\n",
        "0000000000000000\n",
        "0000000000000000 T\n",
        "0000000000000000 ! name\n",
        "00000000000000001 00000001 Tname\n",
        "11111111111111111 T name\n",
        "0000000000000002 T b\n0000000000000001 T a\n",
    };
    struct gt_uftrace_symtab got;
    struct gt_error err = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(gt_uftrace_sym_read(bad[i], strlen(bad[i]), &got, &err), GT_E_FORMAT);
        assert_non_null(strstr(err.text, "expected"));
    }
    /* As uftrace 0.13 and 0.17 write them. */
    static const char odd[] =
        "# build-id: \n0 ? __sym_end\n0 ? __sym_end\n10 00000004 T a\n10 T b\n"
        "20 T c d\n30 ? __sym_end\n";
    assert_int_equal(gt_uftrace_sym_read(odd, sizeof odd - 1, &got, NULL), 0);
    assert_int_equal(got.n, 2);
    assert_string_equal(got.sym[0].name, "a");
    assert_int_equal(got.sym[0].size, 4);
    assert_string_equal(got.sym[1].name, "c d");
    assert_int_equal(got.sym[1].size, 0x10);
    gt_uftrace_symtab_free(&got);
    /* A symbol without a name ends the one before it. */
    static const char nameless[] = "10 T a\n20 T \n30 t c\n40 ? __sym_end\n";
    assert_int_equal(gt_uftrace_sym_read(nameless, sizeof nameless - 1, &got, NULL), 0);
    assert_int_equal(got.n, 2);
    assert_int_equal(got.sym[0].size, 0x10);
    assert_null(gt_uftrace_symtab_find(&got, 0x28));
    assert_string_equal(gt_uftrace_symtab_find(&got, 0x38)->name, "c");
    gt_uftrace_symtab_free(&got);
}

/* ---- .dbg ---------------------------------------------------------------------------------- */

static const struct gt_uftrace_dbg dbg[] = {
    {GT_UFTRACE_DBG_ENUM, 0, 0, "enum colour {RED=0,BLUE=1}"},
    {GT_UFTRACE_DBG_FUNC, 0x1a, 0, "main"},
    {GT_UFTRACE_DBG_LINE, 0, 42, "src/a b.c"},
    {GT_UFTRACE_DBG_ARGS, 0, 0, "@arg1/s,arg2"},
    {GT_UFTRACE_DBG_RET, 0, 0, "@retval"},
};
static const char dbg_text[] = "# path name: /bin/a_b\n# build-id: abcd\n"
                               "E: enum colour {RED=0,BLUE=1}\nF: 1a main\nL: 42 src/a b.c\n"
                               "A: @arg1/s,arg2\nR: @retval\n";

static void test_dbg(void **state)
{
    (void)state;
    struct gt_text t = {0};
    struct gt_uftrace_dbginfo got;
    assert_int_equal(gt_uftrace_dbg_write(&t, &module, dbg, 5, NULL), 0);
    assert_string_equal(t.data, dbg_text);
    for (size_t n = 0; n < t.len; n++) {
        bool whole = n == 0 || t.data[n - 1] == '\n';
        assert_int_equal(gt_uftrace_dbg_read(t.data, n, &got, NULL), whole ? 0 : GT_E_TRUNC);
        if (whole)
            gt_uftrace_dbginfo_free(&got);
    }
    assert_int_equal(gt_uftrace_dbg_read(t.data, t.len, &got, NULL), 0);
    assert_int_equal(got.n, 5);
    assert_string_equal(got.path, "/bin/a_b");
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(got.item[i].kind, dbg[i].kind);
        assert_int_equal(got.item[i].addr, dbg[i].addr);
        assert_int_equal(got.item[i].line, dbg[i].line);
        assert_string_equal(got.item[i].text, dbg[i].text);
    }
    gt_uftrace_dbginfo_free(&got);
    gt_text_free(&t);
}

static void test_dbg_refuses(void **state)
{
    (void)state;
    static const char *const bad[] = {"X: 1\n",           "F: main\n",  "F: 1\n",
                                      "F: 1 m\nL: x y\n", "L: 1 a.c\n", "A: @arg1\n"};
    struct gt_uftrace_dbginfo got;
    struct gt_text t = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(gt_uftrace_dbg_read(bad[i], strlen(bad[i]), &got, NULL), GT_E_FORMAT);
    assert_int_equal(gt_uftrace_dbg_write(&t, &module, dbg + 2, 1, NULL), GT_E_USAGE);
    gt_text_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),  cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_edges),       cmocka_unit_test(test_special_names),
        cmocka_unit_test(test_hostile),     cmocka_unit_test(test_dbg),
        cmocka_unit_test(test_dbg_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
