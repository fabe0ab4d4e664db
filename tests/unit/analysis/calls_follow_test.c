/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording that is followed (calls/read/follow.h): what becomes known of its functions from look
 * to look. */
#include "calls_util.h"

#include "calls/read/follow.h"

enum { TID = 50, TIMES = 3 };

static const struct gt_error_notices none;

/* The next calls of the function, two ns each. */
static void put_calls(const struct gt_uftrace_dir *d, uint32_t function)
{
    static uint64_t time = 10;
    for (int i = 0; i < TIMES; i++, time += 4) {
        const struct gt_compact_record r[] = {{time, gt_uftrace_entry(0, address_of(function))},
                                              {time + 2, gt_uftrace_exit(0, address_of(function))}};
        put_records(d, TID, r, 2);
    }
}

/* "MODULE NAME CALLS" of each function that has calls, a line each. */
static char *look(struct gt_calls_follow *f)
{
    GString *text = g_string_new(NULL);
    assert_int_equal(gt_calls_follow_read(f, true, NULL), 0);
    for (size_t i = 0; i < gt_calls_follow_n_functions(f); i++) {
        const struct gt_calls_follow_function *of = gt_calls_follow_function(f, i);
        if (of->sums.all.calls)
            g_string_append_printf(text, "%s %s %d\n", of->module, of->name,
                                   (int)of->sums.all.calls);
    }
    return g_string_free(text, FALSE);
}

static void expect(struct gt_calls_follow *f, const char *text)
{
    g_autofree char *seen = look(f);
    assert_string_equal(seen, text);
}

/* A function is one row, whatever was known of it when it was called first: nothing, its module,
 * its name. */
static void function_is_one_row(void **state)
{
    (void)state;
    const struct gt_uftrace_dir d = make_dir("rows");
    const struct gt_uftrace_mapping map = {BASE, BASE + FUNCTION * FUNCTIONS, PROGRAM, NULL};
    put_info(&d);
    put_text(&d, "task.txt",
             "SESS timestamp=0.000000001 pid=50 sid=" SID " exename=\"" PROGRAM "\"\n"
             "TASK timestamp=0.000000001 tid=50 pid=50\n");
    put_calls(&d, 1);
    struct gt_calls_follow *f = gt_calls_follow_create(d.path, GT_FOLLOW_FROM_BEGIN, &none);
    expect(f, " 0x400010 3\n");
    assert_int_equal(gt_uftrace_dir_put_map(&d, SID, &map, 1, NULL), 0);
    put_calls(&d, 1);
    expect(f, PROGRAM " 0x400010 6\n");
    put_program(&d);
    put_calls(&d, 1);
    expect(f, PROGRAM " f1 9\n");
    gt_calls_follow_destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(function_is_one_row),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
