/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Expressions and globs: against those of libc on random ones, and hostile ones, which must end. */
#include "filter/regex.h"

#include <fnmatch.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 1;

static unsigned below(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

static bool match(const char *pattern, const char *text)
{
    struct gt_filter_regex *r;
    struct gt_error err;
    size_t at;
    assert_int_equal(gt_filter_regex_parse(pattern, &r, &at, &err), 0);
    bool found = gt_filter_regex_match(r, text);
    gt_filter_regex_free(r);
    return found;
}

/* PCRE2's versions say different places: `place`, one beside it, or those up to `last`. */
static void assert_refused_up_to(const char *pattern, bool glob, int status, size_t place,
                                 size_t last, const char *message)
{
    struct gt_filter_regex *r;
    struct gt_error err;
    size_t at;
    assert_int_equal(
        (glob ? gt_filter_regex_parse_glob : gt_filter_regex_parse)(pattern, &r, &at, &err),
        status);
    assert_null(r);
    assert_in_range(at, place ? place - 1 : 0, last);
    assert_non_null(strstr(err.text, message));
}

static void assert_refused(const char *pattern, bool glob, int status, size_t place,
                           const char *message)
{
    assert_refused_up_to(pattern, glob, status, place, place + 1, message);
}

static void test_matches(void **state)
{
    (void)state;
    assert_true(match("", "anything"));
    assert_true(match("b", "abc"));
    assert_false(match("^b", "abc"));
    assert_true(match("^a.c$", "abc"));
    assert_false(match("^a.c$", "abcd"));
    assert_true(match("^(foo|ba[rz])+$", "foobarbaz"));
    assert_true(match("^x{2,3}$", "xxx"));
    assert_false(match("^x{2,3}$", "xxxx"));
    assert_true(match("\\bb\\w*", "a bc"));
    assert_false(match("\\bc", "abc"));
    assert_true(match("[[:digit:]]$", "a9"));
    assert_true(match("a\\.b", "a.b"));
    assert_false(match("a\\.b", "axb"));
    assert_true(match("^std::", "std::vector<int>::push_back"));
    assert_true(match("\xc3\xa4", "M\xc3\xa4rz"));
}

static void test_refused(void **state)
{
    (void)state;
    assert_refused("ab(c", false, GT_E_USAGE, 4, "missing closing parenthesis");
    assert_refused("ab)c", false, GT_E_USAGE, 2, "unmatched closing parenthesis");
    assert_refused("a[b", false, GT_E_USAGE, 3, "missing terminating ]");
    assert_refused("a[z-b]", false, GT_E_USAGE, 4, "range out of order");
    assert_refused_up_to("[[:foo:]]", false, GT_E_USAGE, 3, 8, "unknown POSIX class");
    assert_refused("a|*b", false, GT_E_USAGE, 3, "nothing here to repeat");
    assert_refused("a{3,2}", false, GT_E_USAGE, 6, "numbers out of order");
    assert_refused("(a)\\1", false, GT_E_USAGE, 3, "back-references");
    assert_refused("(?<n>a)(?P=n)", false, GT_E_USAGE, 0, "back-references");
    assert_refused("a\\", false, GT_E_USAGE, 2, "\\ at end");
    assert_refused("a[b", true, GT_E_USAGE, 1, "no ] for this [");
    assert_refused("a\\", true, GT_E_USAGE, 1, "after the backslash");
    assert_refused("a.*[z-b]c", true, GT_E_USAGE, 3, "range out of order");
    assert_refused("(?x)a # the end", false, GT_E_USAGE, 15, "missing closing parenthesis");
}

/* What would mean something else than in POSIX's expressions, and what PCRE2 does in no bounded
 * time: not inside \Q \E and sets, nor behind a backslash. */
static void test_unlike_posix(void **state)
{
    (void)state;
    assert_refused("[<]\\<b", false, GT_E_USAGE, 3, "\\b is the edge of a word");
    assert_refused("b\\>", false, GT_E_USAGE, 1, "\\b is the edge of a word");
    assert_refused("a{,3}", false, GT_E_USAGE, 1, "{N,M}");
    assert_refused("a\\Kb", false, GT_E_USAGE, 1, "\\K");
    assert_refused("a(*COMMIT)b", false, GT_E_USAGE, 1, "verbs");
    assert_refused("(*UTF)b", false, GT_E_USAGE, 0, "verbs");
    assert_true(match("^\\Qa\\<b(*A)\\E$", "a\\<b(*A)"));
    assert_true(match("^[\\](*A]+$", "](*A"));
    assert_true(match("^\\(*A$", "((A"));
    assert_true(match("\\\\<b", "a\\<b"));
    assert_true(match("a{,b", "a{,b"));
}

/* The part that is looked for first, and both ways to run: texts shorter and longer than that. */
static void test_parts(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool found;
    } rows[] = {
        {"ab+c", "xabbbc", true},      {"ab*c", "xac", true},      {"a?bc", "bc", true},
        {"x(ab|cd)y", "xcdy", true},   {"ab|cd", "cd", true},      {"\\x41bc", "Abc", true},
        {"a\\.b", "a.b", true},        {"a\\nb", "a\nb", true},    {"(?i)abc", "ABC", true},
        {"a(?#xyz)b", "ab", true},     {"\\Qa+\\Eb", "a+b", true}, {"a{0}b", "b", true},
        {"[]x]ab[^]y]", "]abz", true}, {"a.b$", "a\nb", true},     {"ab$", "ab\n", false},
        {"a\\o{142}c", "abc", true},   {"a\\cAb", "a\001b", true}, {"^b", "a\nb", false},
    };
    char text[400];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (match(rows[i].pattern, rows[i].text) != rows[i].found)
            fail_msg("'%s' in '%s'", rows[i].pattern, rows[i].text);
        if (rows[i].pattern[0] == '^')
            continue;
        memset(text, '-', sizeof text);
        snprintf(text + 350, sizeof text - 350, "%s", rows[i].text);
        if (match(rows[i].pattern, text) != rows[i].found)
            fail_msg("'%s' in '%s'", rows[i].pattern, text);
    }
}

/* Pieces that are valid where they stand alone, and some that may not be. */
static void add_piece(char *to, unsigned depth)
{
    static const char *const atoms[] = {"a",    "b",           "c",   "_",   ".",    "[ab]",
                                        "[^a]", "[a-c]",       "\\w", "\\W", " ",    "^",
                                        "$",    "\\b",         "\\B", "\\.", "[]a]", "[^]a]",
                                        "[a-]", "[[:alpha:]]", "-",   "\\s", "\\S",  "()"};
    static const char *const repeats[] = {"*", "+", "?", "{2}", "{0,2}", "{1,}", "{0}"};
    if (depth && below(4) == 0) {
        strcat(to, "(");
        for (unsigned k = below(4); k > 0; k--) {
            add_piece(to, depth - 1);
            if (below(4) == 0)
                strcat(to, "|");
        }
        strcat(to, ")");
    } else {
        strcat(to, atoms[below(sizeof atoms / sizeof *atoms)]);
    }
    if (below(3) == 0)
        strcat(to, repeats[below(sizeof repeats / sizeof *repeats)]);
}

static void make_text(char *text)
{
    unsigned n = below(7);
    for (unsigned i = 0; i < n; i++)
        text[i] = "abc_ .-"[below(7)];
    text[n] = 0;
}

/* glibc finds too much where a group with an anchor is repeated: "(^a){2}" in "aab". */
static bool is_beyond_libc(const char *pattern)
{
    static const char *const anchors[] = {"^", "$", "\\b", "\\B"};
    bool anchored = false;
    for (size_t i = 0; i < sizeof anchors / sizeof *anchors; i++)
        anchored |= strstr(pattern, anchors[i]) != NULL;
    return anchored && strchr(pattern, '(') &&
           (strstr(pattern, "){") || strstr(pattern, ")+") || strstr(pattern, ")*"));
}

/* True: both accept the pattern, and find the same. */
static bool compare(const char *pattern, int *refused)
{
    regex_t theirs;
    struct gt_filter_regex *ours;
    struct gt_error err;
    size_t at;
    int status = gt_filter_regex_parse(pattern, &ours, &at, &err);
    if (regcomp(&theirs, pattern, REG_EXTENDED | REG_NOSUB) != 0) {
        (*refused)++;
        if (status == 0)
            printf("accepted: %s\n", pattern);
        gt_filter_regex_free(ours);
        return status < 0;
    }
    bool same = true;
    for (int i = 0; i < 20 && status == 0 && !is_beyond_libc(pattern); i++) {
        char text[8];
        make_text(text);
        same &= gt_filter_regex_match(ours, text) == (regexec(&theirs, text, 0, NULL, 0) == 0);
        if (!same) {
            printf("differ: '%s' in '%s'\n", pattern, text);
            break;
        }
    }
    if (status < 0)
        printf("refused: %s: %s\n", pattern, err.text);
    regfree(&theirs);
    gt_filter_regex_free(ours);
    return same && status == 0;
}

static void test_random(void **state)
{
    (void)state;
    int refused = 0, bad = 0;
    for (int i = 0; i < 30000; i++) {
        char pattern[400] = "";
        for (unsigned k = 1 + below(4); k > 0; k--) {
            add_piece(pattern, 3);
            if (below(8) == 0)
                strcat(pattern, "|");
        }
        bad += !compare(pattern, &refused);
    }
    assert_int_equal(bad, 0);
    assert_true(refused > 100 && refused < 20000);
}

static void test_random_globs(void **state)
{
    (void)state;
    static const char *const parts[] = {"a",    "b",   "*", "?",     "[ab]", "[!a]",
                                        "[^b]", "\\*", "_", "[a-c]", "[]a]"};
    for (int i = 0; i < 20000; i++) {
        char pattern[64] = "", text[8];
        struct gt_filter_regex *r;
        size_t at;
        for (unsigned k = below(6); k > 0; k--)
            strcat(pattern, parts[below(sizeof parts / sizeof *parts)]);
        assert_int_equal(gt_filter_regex_parse_glob(pattern, &r, &at, NULL), 0);
        for (int k = 0; k < 20; k++) {
            make_text(text);
            if (gt_filter_regex_match(r, text) != (fnmatch(pattern, text, 0) == 0))
                fail_msg("'%s' in '%s'", pattern, text);
        }
        gt_filter_regex_free(r);
    }
}

static uint64_t undecided(const char *pattern, const char *text)
{
    struct gt_filter_regex *r;
    size_t at;
    assert_int_equal(gt_filter_regex_parse(pattern, &r, &at, NULL), 0);
    assert_int_equal(gt_filter_regex_undecided(r), 0);
    assert_false(gt_filter_regex_match(r, text));
    uint64_t n = gt_filter_regex_undecided(r);
    gt_filter_regex_free(r);
    return n;
}

/* Each would take longer than the universe has existed, or all memory, if it were tried branch by
 * branch. */
static void test_hostile(void **state)
{
    (void)state;
    static char text[20001], deep[20001];
    memset(text, 'a', 20000);
    assert_int_equal(undecided("(a*)*b", text), 0);
    assert_int_equal(undecided("(a|a)*[bc]", text), 0);
    assert_int_equal(undecided("(a|aa)+[bc]$", text), 0);
    assert_int_equal(undecided("^(((a*)*)*)*[^a]$", text), 0);
    assert_int_equal(undecided("(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)[xy]", text), 0);
    assert_int_equal(undecided("(a?){50}[bc]", text), 0);
    assert_true(match("a{200}$", text));
    assert_refused("((((a{100}){100}){100}){100}){100}", false, GT_E_RANGE, 34, "too large");
    assert_refused_up_to("a{99999999999999999999}", false, GT_E_RANGE, 7, 22, "too big");
    assert_refused_up_to("a{0,99999999999999999999}", false, GT_E_RANGE, 9, 24, "too big");
    memset(deep, '(', 2000);
    assert_refused(deep, false, GT_E_RANGE, GT_REGEX_DEPTH + 2, "too deeply nested");
    assert_refused(text, false, GT_E_RANGE, GT_REGEX_LENGTH, "too large");
    memset(deep, '*', 2000);
    assert_refused(deep, false, GT_E_USAGE, 1, "nothing here to repeat");
}

/* What exceeds a limit does not match, and is counted. */
static void test_undecided(void **state)
{
    (void)state;
    static char text[2001];
    memset(text, 'a', 2000);
    assert_int_equal(undecided("(?=.*(?=.*(?=.*[xy])))", text), 1);
    assert_int_equal(undecided("(a{0,250}){250}[xy]", text), 1);
    assert_int_equal(undecided("(?=.*(?=.*(?=.*[xy])))", "aaaa"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matches), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_random),  cmocka_unit_test(test_random_globs),
        cmocka_unit_test(test_hostile), cmocka_unit_test(test_unlike_posix),
        cmocka_unit_test(test_parts),   cmocka_unit_test(test_undecided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
