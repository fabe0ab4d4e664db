/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events as the parser leaves them. What it says of wrong ones is in errors_test.py. */
#include "events/tracetool/parser.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct gt_tracetool_parser parser;

static int set_up(void **state)
{
    (void)state;
    gt_tracetool_parser_init(&parser, GT_GRAMMAR_ANY);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    gt_tracetool_parser_free(&parser);
    return 0;
}

/* The text in a block of just its size, so that a memory checker sees a read past its end. */
static void read_text(const char *text)
{
    size_t size = strlen(text);
    char *exact = g_memdup2(text, size ? size : 1);
    gt_tracetool_parser_read(&parser, "file", exact, size);
    g_free(exact);
}

static const struct gt_tracetool_event *one(const char *text)
{
    size_t n = parser.events.n;
    read_text(text);
    assert_int_equal(parser.errors.n, 0);
    assert_int_equal(parser.events.n, n + 1);
    return &parser.events.list[n];
}

static void expect_argument(const struct gt_tracetool_event *e, unsigned i, const char *type,
                            const char *name, enum gt_tracetool_type_base base)
{
    assert_true(i < e->n_arguments);
    assert_string_equal(e->arguments[i].type, type);
    assert_string_equal(e->arguments[i].name, name);
    assert_int_equal(e->arguments[i].base, base);
}

static void test_event(void **state)
{
    (void)state;
    const struct gt_tracetool_event *e =
        one("\n# x\n  ev ( int a , const  char\t*b )  \"a %\"PRIx64\" b\"  ");
    assert_string_equal(e->name, "ev");
    assert_string_equal(e->path, "file");
    assert_int_equal(e->line, 3);
    assert_false(e->disable || e->vcpu);
    assert_int_equal(e->n_arguments, 2);
    expect_argument(e, 0, "int", "a", GT_TYPE_INT);
    expect_argument(e, 1, "const char *", "b", GT_TYPE_CHAR);
    assert_string_equal(e->format, "\"a %\" PRIx64 \" b\"");
    e = one("disable nothing(void)");
    assert_true(e->disable);
    assert_int_equal(e->n_arguments, 0);
    assert_null(e->format);
    assert_string_equal(one("empty(void) \"\"")->format, "\"\"");
}

static void test_types(void **state)
{
    (void)state;
    static const struct {
        const char *declared, *type;
        enum gt_tracetool_type_base base;
    } types[] = {
        {"unsigned", "unsigned", GT_TYPE_UINT},
        {"signed", "signed", GT_TYPE_INT},
        {"long unsigned int", "long unsigned int", GT_TYPE_ULONG},
        {"int short", "int short", GT_TYPE_SHORT},
        {"unsigned short int", "unsigned short int", GT_TYPE_USHORT},
        {"long", "long", GT_TYPE_LONG},
        {"long  int long", "long int long", GT_TYPE_LONG_LONG},
        {"unsigned long long", "unsigned long long", GT_TYPE_ULONG_LONG},
        {"char", "char", GT_TYPE_CHAR},
        {"char unsigned", "char unsigned", GT_TYPE_UCHAR},
        {"signed char", "signed char", GT_TYPE_SCHAR},
        {"bool", "bool", GT_TYPE_BOOL},
        {"const int", "const int", GT_TYPE_INT},
        {"uint8_t*", "uint8_t *", GT_TYPE_UINT8},
        {"void * *const*", "void **const *", GT_TYPE_VOID},
        {"ssize_t", "ssize_t", GT_TYPE_SSIZE},
        {"ptrdiff_t", "ptrdiff_t", GT_TYPE_PTRDIFF},
        {"uintptr_t", "uintptr_t", GT_TYPE_UINTPTR},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        g_autofree char *text = g_strdup_printf("ev%zu(%s x)", i, types[i].declared);
        expect_argument(one(text), 0, types[i].type, "x", types[i].base);
    }
}

static void test_strings(void **state)
{
    (void)state;
    const struct gt_tracetool_event *e =
        one("ev(char *a, const char *b, const char * const c, char **d, "
            "unsigned char *e, char f, char const *g, int8_t *h, const  char*i)");
    static const bool is_string[] = {true, true, true, false, false, false, false, false, false};
    static const unsigned stars[] = {1, 1, 1, 2, 1, 0, 1, 1, 1};
    static const bool is_const[] = {false, true, true, false, false, false, true, false, true};
    for (unsigned i = 0; i < 9; i++) {
        assert_int_equal(e->arguments[i].is_string, is_string[i]);
        assert_int_equal(e->arguments[i].stars, stars[i]);
        assert_int_equal(e->arguments[i].is_const, is_const[i]);
    }
}

static void test_vcpu(void **state)
{
    (void)state;
    const struct gt_tracetool_event *e = one("vcpu ev(int a) \"a %d\"");
    assert_true(e->vcpu);
    assert_int_equal(e->n_arguments, 2);
    expect_argument(e, 0, "void *", "__cpu", GT_TYPE_VOID);
    expect_argument(e, 1, "int", "a", GT_TYPE_INT);
    assert_string_equal(e->format, "\"cpu=%p \" \"a %d\"");
    assert_string_equal(one("vcpu none(void)")->format, "\"cpu=%p \"");
    e = one("vcpu ten(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j)");
    assert_int_equal(e->n_arguments, GT_EVENT_ARGUMENTS);
}

static void test_tcg(void **state)
{
    (void)state;
    read_text(
        "disable vcpu tcg m(TCGv a, uint16_t b, TCGv_i32 c, TCGv_ptr d) \"t %d\", \"x %\" PRIx64");
    assert_int_equal(parser.errors.n, 0);
    assert_int_equal(parser.events.n, 2);
    const struct gt_tracetool_event *e = &parser.events.list[0];
    assert_string_equal(e->name, "m_trans");
    assert_string_equal(e->format, "\"cpu=%p \" \"t %d\"");
    assert_int_equal(e->n_arguments, 2);
    assert_true(e->disable && e->vcpu);
    expect_argument(e, 1, "uint16_t", "b", GT_TYPE_UINT16);
    e++;
    assert_string_equal(e->name, "m_exec");
    assert_string_equal(e->format, "\"cpu=%p \" \"x %\" PRIx64");
    assert_int_equal(e->n_arguments, 5);
    expect_argument(e, 1, "uint64_t", "a", GT_TYPE_UINT64);
    expect_argument(e, 3, "uint32_t", "c", GT_TYPE_UINT32);
    expect_argument(e, 4, "void *", "d", GT_TYPE_VOID);
    assert_int_equal(e->arguments[4].stars, 1);
}

static void test_every_cut(void **state)
{
    (void)state;
    static const char text[] =
        "vcpu tcg disable m(TCGv a, const char *b) \"t\\n %d\", \"x %\" PRIx64";
    for (size_t n = 0; n <= strlen(text); n++) {
        g_autofree char *cut = g_strndup(text, n);
        tear_down(NULL);
        set_up(NULL);
        read_text(cut);
        assert_int_equal(parser.errors.n == 0, n == 0 || n == strlen(text));
        assert_int_equal(parser.events.n, n == strlen(text) ? 2 : 0);
    }
}

/* Errors come in the order of files, lines and columns, whenever they were found. */
static void test_order(void **state)
{
    (void)state;
    struct gt_text out = {0};
    read_text("a(int x) \"a\\nb\"\nb(int x) z\n");
    read_text("(");
    gt_tracetool_diagnostics_show(&parser.errors, &out);
    static const char *const places[] = {"file:1:12: ", "file:2:10: ", "file:1:1: "};
    const char *at = out.data;
    for (size_t i = 0; i < 3; i++) {
        at = strstr(at, places[i]);
        assert_non_null(at);
    }
    gt_text_free(&out);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_event), TEST(test_types), TEST(test_strings),   TEST(test_vcpu),
        TEST(test_tcg),   TEST(test_order), TEST(test_every_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
