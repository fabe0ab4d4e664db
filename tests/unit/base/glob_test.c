/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Globs against a definition that tries everything; texts that are no UTF-8. */
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { LONGEST = 5 };

static bool by_definition(const char *glob, const char *text)
{
    if (*glob == '*')
        return by_definition(glob + 1, text) || (*text && by_definition(glob, text + 1));
    if (!*glob || !*text)
        return !*glob && !*text;
    return (*glob == '?' || *glob == *text) && by_definition(glob + 1, text + 1);
}

/* The number as a text of these letters; 0: the next one is longer than LONGEST. */
static int make(unsigned number, const char *letters, unsigned n, char out[LONGEST + 1])
{
    int length = 0;
    for (; number > 0 && length < LONGEST; number = (number - 1) / n)
        out[length++] = letters[(number - 1) % n];
    out[length] = '\0';
    return number == 0;
}

static void test_all(void **state)
{
    char glob[LONGEST + 1], text[LONGEST + 1];
    (void)state;
    for (unsigned i = 0; make(i, "ab*?", 4, glob); i++)
        for (unsigned k = 0; make(k, "ab", 2, text); k++)
            if (gt_text_glob_fits(glob, text) != by_definition(glob, text))
                fail_msg("%s and %s", glob, text);
}

static void test_bytes(void **state)
{
    (void)state;
    assert_true(gt_text_glob_fits("?", "\xf0"));
    assert_false(gt_text_glob_fits("??", "\xf0"));
    assert_true(gt_text_glob_fits("a*\xff", "ab\xf0\xff"));
    assert_true(gt_text_glob_fits("\\", "\\"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
