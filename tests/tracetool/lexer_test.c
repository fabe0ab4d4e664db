/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tokens of events files; formats for SystemTap; the lists of words. */
#include "events/tracetool/event.h"
#include "events/tracetool/lexer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void expect(const char *text, enum gt_tracetool_token_kind kind, const char *token,
                   const char *rest)
{
    struct gt_tracetool_lexer l;
    gt_tracetool_lexer_init(&l, text, text + strlen(text));
    assert_int_equal(l.token.kind, kind);
    assert_int_equal(l.token.length, strlen(token));
    assert_memory_equal(l.token.at, token, strlen(token));
    assert_string_equal(l.next, rest);
}

static void test_tokens(void **state)
{
    (void)state;
    expect("", GT_TOKEN_END, "", "");
    expect(" \t\r\v\f", GT_TOKEN_END, "", "");
    expect("  ab_1 c", GT_TOKEN_WORD, "ab_1", " c");
    expect("_x(", GT_TOKEN_WORD, "_x", "(");
    expect("9p(", GT_TOKEN_NUMBER, "9p", "(");
    expect("**a", GT_TOKEN_OTHER, "*", "*a");
    expect("\xc3\xa9t", GT_TOKEN_OTHER, "\xc3\xa9", "t");
    expect("\"a b\"c", GT_TOKEN_LITERAL, "\"a b\"", "c");
    expect("\"a\\\"b\"\"c\"", GT_TOKEN_LITERAL, "\"a\\\"b\"", "\"c\"");
    expect("\"a\\\\\"c", GT_TOKEN_LITERAL, "\"a\\\\\"", "c");
    expect("\"a", GT_TOKEN_OPEN_LITERAL, "\"a", "");
    expect("\"a\\", GT_TOKEN_OPEN_LITERAL, "\"a\\", "");
    expect("\"a\\\"", GT_TOKEN_OPEN_LITERAL, "\"a\\\"", "");
    expect("\"", GT_TOKEN_OPEN_LITERAL, "\"", "");
}

static void test_end_stays(void **state)
{
    (void)state;
    struct gt_tracetool_lexer l;
    const char text[] = "a b";
    gt_tracetool_lexer_init(&l, text, text + 1);
    for (int i = 0; i < 3; i++) {
        gt_tracetool_lexer_next(&l);
        assert_int_equal(l.token.kind, GT_TOKEN_END);
        assert_ptr_equal(l.token.at, text + 1);
    }
}

/* The escape's value, and how many characters it took. */
static void expect_escape(const char *text, unsigned char value, size_t length)
{
    const char *p = text;
    assert_int_equal(gt_tracetool_literal_escape(&p, text + strlen(text)), value);
    assert_int_equal(p + 1 - text, length);
}

static void test_escapes(void **state)
{
    (void)state;
    expect_escape("n", '\n', 1);
    expect_escape("tn", '\t', 1);
    expect_escape("\"", '"', 1);
    expect_escape("\\n", '\\', 1);
    expect_escape("%", '%', 1);
    expect_escape("0", 0, 1);
    expect_escape("12", 10, 2);
    expect_escape("0129", 10, 3);
    expect_escape("1018", 'A', 3);
    expect_escape("x0A", 10, 3);
    expect_escape("x41g", 'A', 3);
    expect_escape("x", 0, 1);
}

static void expect_stap(const char *format, const char *text)
{
    g_autoptr(GString) out = g_string_new(NULL);
    gt_tracetool_printf_for_stap(out, format);
    assert_string_equal(out->str, text);
}

static void test_stap(void **state)
{
    (void)state;
    expect_stap("\"\"", "");
    expect_stap("\"a %d\" \" b\"", "a %d b");
    expect_stap("\"%ld %llu %zu %hhx %jd %td\"", "%d %u %u %x %d %d");
    expect_stap("\"0x%016\" PRIx64 \" %\" PRIi32", "0x%016x %i");
    expect_stap("\"%-5.3i|%%d|%5lx%%ld\"", "%-5.3i|%%d|%5x%%ld");
    expect_stap("\"\\\"q\\\" \\\\ \\t\\x01\"", "\\\"q\\\" \\\\ \\t\\001");
}

static void test_words(void **state)
{
    (void)state;
    static const char *const names[] = {
        "NULL",   "auto",   "break", "catch", "class", "counter", "else",   "for",    "foreach",
        "global", "in",     "limit", "new",   "next",  "private", "probe",  "return", "self",
        "sizeof", "string", "this",  "try",   "while", "xlate",   "xor_eq", "x",      "count"};
    /* C, D, SystemTap */
    static const char reserved[][4] = {"C..", "CD.", "CDS", "C.S", "C..", ".D.", "CDS",
                                       "CDS", "..S", "..S", "..S", "..S", "C..", "..S",
                                       "C.S", ".DS", "CDS", ".DS", "CD.", ".DS", "CD.",
                                       "C.S", "CDS", ".D.", "C..", "...", "..."};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int language = 0; language < 3; language++)
            assert_int_equal(
                gt_tracetool_word_is_reserved((enum gt_tracetool_language)language, names[i]),
                reserved[i][language] != '.');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens),  cmocka_unit_test(test_end_stays),
        cmocka_unit_test(test_escapes), cmocka_unit_test(test_stap),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
